export const mount = async (element, host) => {
  const list = document.createElement('ul')
  for (const { id, name } of await host.api('/api/datasets?limit=20')) {
    const link = document.createElement('button')
    link.className = 'button quiet'
    link.textContent = name
    link.addEventListener('click', () => host.navigate(`/datasets/${id}`))
    const item = document.createElement('li')
    item.append(link)
    list.append(item)
  }
  element.append(list)
  return () => list.remove()
}
