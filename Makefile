# Every target starts from nothing: it makes what it needs. `make book` and `make test` are the two to know.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
NOTEBOOKS := $(wildcard notebooks/*.ipynb)

# One thread a process: two notebooks run at a time, and sums come out the same on every machine.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PYTHONHASHSEED := 0
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# Programs that belong to the environment (jupyter, ruff, ...) are found without activating it.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help book pdf test test-code test-notebooks test-book paper lab sync lint bench dist clean
.PHONY: test-python test-lowest
.PHONY: course course-rates hand-out collect grade marks
.DELETE_ON_ERROR:

help:
	@echo "make book   build the HTML pages and print the file to open"
	@echo "make pdf    print the whole book into one PDF"
	@echo "make test   run every test: package, theorems, notebooks, built pages"
	@echo "make lab    open the notebooks in Jupyter"
	@echo "make paper  run what the records of the paper's experiments lack (many hours on two cores)"
	@echo "make sync   make notebooks/*.ipynb from their text in notebooks/src"
	@echo "make lint   check format, style, types and the spelling of the text"
	@echo "make bench  time the package against its peers"
	@echo "make dist   build wheel and source distribution, and try both in a fresh environment"
	@echo "make test-python PYTHON=python3.13  run the tests of the core under another interpreter"
	@echo "make test-lowest  run them with the lowest versions that pyproject.toml allows"
	@echo "make course write the coursework's notebooks anew from their text"
	@echo "make collect FROM=export.zip SUBMISSIONS=folder ASSIGNMENT=1_slow_chains [ROSTER=roster.csv]"
	@echo "make grade  grade a folder: make grade SUBMISSIONS=folder; then make marks SUBMISSIONS=folder"
	@echo "make clean  remove everything that make has made"

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed, $(PYTHON) is {v[0]}.{v[1]}: call make with PYTHON=python3.11")'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]'
	@touch $@

# jupyter-cache compares code cells only; fresh_build.py forgets executed pages once the package or a version changed.
book: $(INSTALLED)
	$(BIN)/python tools/fresh_build.py
	$(BIN)/python -m tools.explorable_records
	$(BIN)/jupyter-book build . -W --keep-going -n
	@echo "Open $(CURDIR)/_build/html/index.html"

pdf: book
	$(BIN)/python tools/book_pdf.py

test: test-code test-notebooks test-book

# By files: the tests of a file share what is costly to make, such as a graded course.
test-code: $(INSTALLED)
	$(BIN)/python -m pytest tests amgd --ignore=tests/book -n 2 --dist loadfile

# The notebooks run once, as nbmake's tests; what they gave is handed to the book build.
test-notebooks: $(INSTALLED)
	$(BIN)/python tools/fresh_build.py
	$(BIN)/python -m tools.run_copies make
	$(BIN)/python -m pytest --nbmake --overwrite --nbmake-timeout=300 -n 2 _run/notebooks
	$(BIN)/python -m tools.run_copies cache

test-book: book
	$(BIN)/python -m pytest tests/book

# It can be stopped at any moment and goes on when called again.
paper: $(INSTALLED)
	$(BIN)/amgd run figure1 figure2 figure3 --out book/results

lab: $(INSTALLED)
	PYTHONPATH="$(CURDIR)" $(BIN)/jupyter lab --config=tools/lab/jupyter_lab_config.py

sync: $(INSTALLED)
	$(BIN)/python tools/sync_notebooks.py

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy amgd tools
	$(BIN)/python -m tools.spelling
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

bench: $(INSTALLED)
	$(BIN)/python -m pytest benchmarks -p no:xdist -s

# PYTHON=python3.13 tries them under that interpreter; wheel and source distribution stay in dist/.
dist: $(INSTALLED)
	$(BIN)/python tools/dist.py --python $(PYTHON) --out dist

# Tests of the core in a fresh environment, which goes away again.
test-python:
	$(PYTHON) -m tools.try_versions

test-lowest:
	$(PYTHON) -m tools.try_versions --lowest

# Coursework; book/course_lecturers.md says how it works.
course: $(INSTALLED)
	$(BIN)/python -m tools.course.build

hand-out: $(INSTALLED)
	@test -n "$(ROSTER)" -a -n "$(TO)" || { echo "Say to whom and where: make hand-out ROSTER=roster.csv TO=folder"; exit 2; }
	$(BIN)/python -m tools.course.personal "$(ROSTER)" "$(TO)"

course-rates: $(INSTALLED)
	$(BIN)/python -m tools.course.rates
	$(BIN)/python -m tools.course.adversary
	$(BIN)/python -m tools.course.similar

collect: $(INSTALLED)
	@test -n "$(FROM)" -a -n "$(SUBMISSIONS)" -a -n "$(ASSIGNMENT)" || { echo "Say from what, where and which: make collect FROM=export.zip SUBMISSIONS=folder ASSIGNMENT=1_slow_chains"; exit 2; }
	$(BIN)/python -m tools.course.collect "$(FROM)" "$(SUBMISSIONS)" "$(ASSIGNMENT)" $(if $(ROSTER),--roster "$(ROSTER)")

grade marks: $(INSTALLED)
	@test -n "$(SUBMISSIONS)" || { echo "Say which folder: make $@ SUBMISSIONS=folder"; exit 2; }
	$(BIN)/python -m tools.course.$@ "$(SUBMISSIONS)" $(GRADE_OPTIONS)

clean:
	rm -rf .venv _build _run dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
