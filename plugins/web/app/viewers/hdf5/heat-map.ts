import { make } from '../dom.ts'

/** Nine colours of the Viridis map, from Matplotlib (CC0). */
const colors: readonly (readonly [number, number, number])[] = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
]

const colorAt = (share: number): readonly [number, number, number] => {
  const place = Math.min(1, Math.max(0, share)) * (colors.length - 1)
  const at = Math.min(colors.length - 2, Math.floor(place))
  const [one, other] = [colors[at], colors[at + 1]] as [readonly [number, number, number], readonly [number, number, number]]
  const mix = (channel: 0 | 1 | 2): number => Math.round(one[channel] + (place - at) * (other[channel] - one[channel]))
  return [mix(0), mix(1), mix(2)]
}

const rangeOf = (values: Float64Array): readonly [number, number] => {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (!Number.isFinite(value)) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  return low > high ? [0, 0] : [low, high]
}

interface HeatMapTexts {
  readonly label: string
  readonly language: string
  /** Reports the value at the pointer or cursor. */
  readonly say: (row: number, column: number, value: number) => void
}

/** A matrix as a heat map, the first row at the top. The pointer or the arrow keys select a value. */
export const drawHeatMap = (values: Float64Array, rows: number, columns: number, { label, language, say }: HeatMapTexts): HTMLElement => {
  const [low, high] = rangeOf(values)
  const canvas = make('canvas', {
    width: columns,
    height: rows,
    className: 'heat-map',
    tabIndex: 0,
    attributes: { role: 'img', 'aria-label': label },
  })
  const pixels = new ImageData(columns, rows)
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    // Missing values stay transparent.
    if (Number.isFinite(value)) pixels.data.set([...colorAt(high === low ? 0.5 : (value - low) / (high - low)), 255], 4 * at)
  }
  canvas.getContext('2d')?.putImageData(pixels, 0, 0)
  canvas.style.aspectRatio = `${Math.max(0.25, Math.min(4, columns / rows))}`
  const cursor = { row: 0, column: 0 }
  const showValueAt = (row: number, column: number): void => {
    cursor.row = Math.min(rows - 1, Math.max(0, row))
    cursor.column = Math.min(columns - 1, Math.max(0, column))
    say(cursor.row, cursor.column, values[cursor.row * columns + cursor.column] as number)
  }
  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) =>
    showValueAt(Math.floor((offsetY / canvas.clientHeight) * rows), Math.floor((offsetX / canvas.clientWidth) * columns)),
  )
  const steps: Readonly<Record<string, readonly [number, number]>> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  }
  canvas.addEventListener('keydown', event => {
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    showValueAt(cursor.row + step[0], cursor.column + step[1])
  })
  const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 6 })
  const scale = make('canvas', { width: 256, height: 1, attributes: { 'aria-hidden': 'true' } })
  const line = new ImageData(256, 1)
  for (let at = 0; at < 256; at++) line.data.set([...colorAt(at / 255), 255], 4 * at)
  scale.getContext('2d')?.putImageData(line, 0, 0)
  return make(
    'figure',
    { className: 'heat-figure' },
    canvas,
    make('figcaption', { className: 'heat-scale' }, make('span', {}, number.format(low)), scale, make('span', {}, number.format(high))),
  )
}
