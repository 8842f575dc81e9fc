import { round } from './table.ts'

/** The cost of a request at several sizes of the collection that it reads. */
export interface Curve {
  readonly name: string
  readonly path: string
  /** Size: records; cost: milliseconds of processor time. */
  readonly points: readonly { readonly size: number; readonly cost: number }[]
}

/** The exponent b of cost = a × size ^ b, fitted by least squares of the logarithms: 0 is constant, 1 is linear. */
const exponentOf = (points: Curve['points']): number => {
  const logs = points.map(({ size, cost }) => [Math.log(size), Math.log(cost)] as const)
  const mean = (of: (pair: readonly [number, number]) => number): number => logs.reduce((sum, pair) => sum + of(pair), 0) / logs.length
  const [x, y] = [mean(([size]) => size), mean(([, cost]) => cost)]
  return mean(([size, cost]) => (size - x) * (cost - y)) / mean(([size]) => (size - x) ** 2)
}

/** The exponent with one decimal; never "-0.0". */
export const shownExponent = (points: Curve['points']): string => (Math.round(exponentOf(points) * 10) / 10 || 0).toFixed(1)

const width = 420
const height = 200
const margin = { left: 52, right: 36, top: 34, bottom: 26 }
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const decimals = (value: number): string => value.toFixed(1)

/** One plot with logarithmic axes of equal scale: a linear cost has a slope of 1. */
const plot = ({ name, points }: Curve): string => {
  const decadesX = [Math.floor(Math.log10(points[0]?.size ?? 1)), Math.ceil(Math.log10(points.at(-1)?.size ?? 10))] as const
  const lowest = Math.floor(Math.log10(Math.min(...points.map(({ cost }) => cost))))
  const decadesY = [lowest, lowest + Math.max(2, Math.ceil(Math.log10(Math.max(...points.map(({ cost }) => cost))) - lowest))] as const
  const x = (size: number): number =>
    margin.left + ((Math.log10(size) - decadesX[0]) / (decadesX[1] - decadesX[0])) * (width - margin.left - margin.right)
  const y = (cost: number): number =>
    height - margin.bottom - ((Math.log10(cost) - decadesY[0]) / (decadesY[1] - decadesY[0])) * (height - margin.top - margin.bottom)
  const decades = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n))
  const lines = [
    ...decades(...decadesX).map(size => {
      const at = decimals(x(size))
      const label = `<text x="${at}" y="${height - 8}" text-anchor="middle">${size.toLocaleString('en')}</text>`
      return `<line class="rule" x1="${at}" x2="${at}" y1="${margin.top}" y2="${height - margin.bottom}"/>${label}`
    }),
    ...decades(...decadesY).map(cost => {
      const at = decimals(y(cost))
      const label = `<text x="${margin.left - 6}" y="${decimals(y(cost) + 4)}" text-anchor="end">${cost >= 1 ? cost : cost.toPrecision(1)} ms</text>`
      return `<line class="rule" x1="${margin.left}" x2="${width - margin.right}" y1="${at}" y2="${at}"/>${label}`
    }),
  ]
  const path = points.map(({ size, cost }, n) => `${n === 0 ? 'M' : 'L'}${decimals(x(size))} ${decimals(y(cost))}`).join('')
  const dots = points.map(({ size, cost }) => {
    const title = `<title>${size.toLocaleString('en')}: ${round(cost)} ms</title>`
    return `<circle cx="${decimals(x(size))}" cy="${decimals(y(cost))}" r="3.5">${title}</circle>`
  })
  const title = `<text class="name" x="${margin.left}" y="18">${escaped(name)} (exponent ${shownExponent(points)})</text>`
  return `${title}${lines.join('')}<path d="${path}"/>${dots.join('')}`
}

const style = `text{font:11px system-ui,sans-serif;fill:#56606d}.name{font-size:12px;font-weight:600;fill:#1d2530}.rule{stroke:#dcd5c4}path{fill:none;stroke:#0b655c;stroke-width:2}circle{fill:#0b655c}rect{fill:#fffdf8}
@media (prefers-color-scheme:dark){text{fill:#a6adb6}.name{fill:#ebe7dd}.rule{stroke:#323a43}path{stroke:#6fcbbd}circle{fill:#6fcbbd}rect{fill:#1a2027}}`

/** All curves as one SVG, two in a row. */
export const drawCurves = (curves: readonly Curve[]): string => {
  const [wide, high] = [2 * width, Math.ceil(curves.length / 2) * height]
  const plots = curves.map((curve, n) => `<g transform="translate(${(n % 2) * width} ${Math.floor(n / 2) * height})">${plot(curve)}</g>`)
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" role="img" aria-label="Processor time of a request by size">`
  return `${open}<style>${style}</style><rect width="${wide}" height="${high}"/>${plots.join('\n')}</svg>\n`
}
