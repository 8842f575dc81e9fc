const mostRows = 500

const rowOf = (cells, name) => {
  const row = document.createElement('tr')
  for (const text of cells) {
    const cell = document.createElement(name)
    cell.textContent = text
    row.append(cell)
  }
  return row
}

/** Browsers load this file unchanged. For `host` see the plugin guide and `ViewerHost` in `docs/sdk-api.md`. */
export const mount = async (element, host) => {
  const text = new TextDecoder().decode(await host.read(0, host.thing.sizeBytes))
  const [head, ...rows] = text
    .split(/\r?\n/)
    .filter(line => line !== '')
    .map(line => line.split('\t'))
  if (!head) throw new Error(host.t('empty'))
  const table = document.createElement('table')
  table.append(rowOf(head, 'th'), ...rows.slice(0, mostRows).map(cells => rowOf(cells, 'td')))
  element.append(table)
  if (rows.length > mostRows) element.append(host.t('more', { count: mostRows }))
  return () => element.replaceChildren()
}
