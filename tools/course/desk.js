const rows = JSON.parse(document.getElementById('rows').textContent), columns = COLUMNS;
const fields = [...document.querySelectorAll('input')], points = fields.filter(f => f.type === 'number');
let saved = true;
function left() { document.getElementById('left').textContent = points.filter(f => f.value === '').length; }
function put(f) { rows[f.dataset.row][f.dataset.column] = f.value; saved = false; left(); }
function save() {
  const quote = v => '"' + (/^[=+\-@\t\r]/.test(v) ? "'" : '') + String(v).replaceAll('"', '""') + '"';
  const text = [columns, ...rows.map(r => columns.map(c => r[c]))].map(r => r.map(quote).join(',')).join('\r\n') + '\r\n';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
  link.download = 'to_grade.csv'; link.click(); saved = true;
}
fields.forEach(f => f.addEventListener('input', () => put(f)));
document.addEventListener('keydown', e => {
  if ((e.ctrlKey || e.metaKey) && e.key === 's') { e.preventDefault(); save(); }
  if (e.key === 'Enter' && e.target.tagName === 'INPUT') {
    const here = points.indexOf(e.target.type === 'number' ? e.target : e.target.closest('.student').querySelector('input[type=number]'));
    const next = points[here + (e.shiftKey ? -1 : 1)];
    if (next) { next.focus(); next.closest('.student').scrollIntoView({block: 'center'}); }
  }
});
document.getElementById('save').addEventListener('click', save);
window.addEventListener('beforeunload', e => { if (!saved) e.preventDefault(); });
left();
