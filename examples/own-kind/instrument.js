/** The page of one instrument; search hits link here with its id as the page's state. */
export const mount = async (element, host) => {
  const id = host.state.get()
  if (!id) throw new Error(host.t('none'))
  const { name, model, description } = await host.api(`/api/instruments/${encodeURIComponent(id)}`)
  const title = document.createElement('h2')
  title.textContent = name
  const list = document.createElement('dl')
  list.className = 'values'
  for (const [key, value] of Object.entries({ model, description })) {
    const line = document.createElement('div')
    const term = document.createElement('dt')
    const text = document.createElement('dd')
    term.textContent = host.t(key)
    text.textContent = value
    line.append(term, text)
    list.append(line)
  }
  element.append(title, list)
  return () => element.replaceChildren()
}
