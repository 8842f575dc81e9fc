/** Counts the first thousand files by media type. */
const counted = async host => {
  const { entries } = await host.api(`/api/datasets/${host.thing.id}/entries?recursive=true&limit=1000`)
  const types = new Map()
  for (const { kind, type } of entries) if (kind === 'file') types.set(type, (types.get(type) ?? 0) + 1)
  return [...types].sort(([, one], [, other]) => other - one)
}

/** The tab is hidden if there are no files. */
export const canShow = async (_, host) => (await counted(host)).length > 0

export const mount = async (element, host) => {
  const table = document.createElement('table')
  table.className = 'table'
  for (const [at, cells] of [[host.t('type'), host.t('files')], ...(await counted(host))].entries()) {
    const row = table.insertRow()
    for (const cell of cells) {
      const field = document.createElement(at === 0 ? 'th' : 'td')
      field.textContent = String(cell)
      row.append(field)
    }
  }
  element.append(table)
  return () => table.remove()
}
