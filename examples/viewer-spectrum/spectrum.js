/** The points of the first table in a JCAMP-DX file: each line has an x and the y values that follow at intervals of `DELTAX`. */
const read = text => {
  const field = name => new RegExp(`^##${name}=(.*)$`, 'im').exec(text)?.[1]?.trim()
  const [, table = ''] = /##XYDATA=\s*\(X\+\+\(Y\.\.Y\)\)\s*\n([^#]*)/i.exec(text) ?? []
  const step = Number(field('DELTAX') ?? 1)
  const points = table
    .trim()
    .split('\n')
    .flatMap(line => {
      const [x, ...values] = line.trim().split(/\s+/).map(Number)
      return values.map((y, at) => ({ x: x + at * step, y }))
    })
  return { title: field('TITLE') ?? '', points: points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)) }
}

const svg = (name, attributes) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}

const chart = (points, label) => {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const scale = (value, all, size) => ((value - Math.min(...all)) / (Math.max(...all) - Math.min(...all) || 1)) * size
  const line = points.map(({ x, y }) => `${scale(x, xs, 600).toFixed(1)},${(200 - scale(y, ys, 200)).toFixed(1)}`).join(' ')
  const picture = svg('svg', { viewBox: '-10 -10 620 220', role: 'img', 'aria-label': label })
  picture.append(svg('polyline', { points: line, fill: 'none', stroke: 'var(--verdigris)', 'stroke-width': 1.5 }))
  return picture
}

/** A table, for users who cannot see the chart. */
const table = (points, host) => {
  const element = document.createElement('table')
  const rows = [[host.t('x'), host.t('y')], ...points.slice(0, 500).map(({ x, y }) => [x, y])]
  for (const [at, cells] of rows.entries()) {
    const row = element.insertRow()
    for (const cell of cells) {
      const field = document.createElement(at === 0 ? 'th' : 'td')
      field.textContent = typeof cell === 'number' ? cell.toLocaleString(host.language) : cell
      row.append(field)
    }
  }
  return element
}

export const mount = async (element, host) => {
  const { title, points } = read(new TextDecoder().decode(await host.read(0, host.thing.sizeBytes)))
  if (points.length === 0) throw new Error(host.t('empty'))
  element.append(chart(points, host.t('points', { count: points.length, title })), table(points, host))
  return () => element.replaceChildren()
}
