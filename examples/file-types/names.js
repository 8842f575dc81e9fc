export const mount = async (element, host) => {
  const { entries } = await host.api(`/api/datasets/${host.thing.id}/entries?recursive=true&limit=1000`)
  const list = document.createElement('pre')
  list.textContent = entries.map(({ name }) => name).join('\n') || host.t('none')
  element.append(list)
  return () => list.remove()
}
