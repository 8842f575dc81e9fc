import { make, makeButton, makeChoice, makeScroller, makeStatus, makeTable, onSchemeChange } from '../dom.ts'
import { drawHeatMap } from './heat-map.ts'
import { drawLine } from './line-plot.ts'
import type { Description, Slice } from './scientific-file.ts'

const tableRows = 50
const tableColumns = 20
/** Maximum number of values read for a plot. */
const maxPlotted = 1_000_000
const maxSide = 1000

export type Look = 'table' | 'plot' | 'map'

interface ArrayHooks {
  readonly t: (key: string, values?: Record<string, unknown>) => string
  readonly language: string
  readonly slice: (ranges: readonly (readonly [number, number])[], isExact: boolean) => Promise<Slice>
  readonly look: Look
  readonly changed: (look: Look) => void
  readonly signal: AbortSignal
}

/** A number with its digits, without those that only the conversion to 64 bits or the unpacking adds. */
const numberText = (value: number, { type, isScaled }: Description): string => {
  if (isScaled) return String(Number(value.toPrecision(12)))
  if (type !== 'float32' && type !== 'float16') return String(value)
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}

/** Slices of an array along one or two dimensions, with a fixed index in each of the others. */
export class ArrayView {
  readonly element: HTMLElement
  #hooks: ArrayHooks
  #about: Description
  #look: Look
  /** The row dimension, the column dimension (-1 in one-dimensional arrays), and the index or offset in each dimension. */
  #down: number
  #right: number
  #at: number[]
  #status = makeStatus()
  #controls = make('div', { className: 'view-bar' })
  #body = make('div', { className: 'view-box' })
  #undraw: () => void = () => undefined
  #run = 0

  constructor(about: Description, hooks: ArrayHooks) {
    const { shape } = about
    this.#hooks = hooks
    this.#about = about
    this.#at = shape.map(() => 0)
    this.#down = Math.max(0, shape.length - 2)
    this.#right = shape.length > 1 ? shape.length - 1 : -1
    this.#look = this.#looks().includes(hooks.look) ? hooks.look : 'table'
    this.element = make('div', { className: 'view-box' }, this.#controls, this.#status, this.#body)
    hooks.signal.addEventListener('abort', () => this.#undraw())
    this.#drawControls()
    void this.#draw()
  }

  #looks(): readonly Look[] {
    const { isNumeric, shape } = this.#about
    if (!isNumeric || shape.length === 0) return ['table']
    return shape.length === 1 ? ['table', 'plot'] : ['table', 'plot', 'map']
  }

  #nameOf(dimension: number): string {
    const name = this.#about.dimensions[dimension]
    const size = this.#about.shape[dimension] ?? 0
    return name ? `${name} (${size})` : this.#hooks.t('viewer.hdf5.dimension', { number: dimension, size })
  }

  #drawControls(): void {
    const { t } = this.#hooks
    const { shape } = this.#about
    const looks = this.#looks()
    const choices: Node[] = []
    if (looks.length > 1)
      choices.push(
        makeChoice(
          t('viewer.hdf5.look'),
          looks.map(each => [each, t(`viewer.hdf5.looks.${each}`)] as const),
          this.#look,
          look => {
            this.#look = look
            this.#hooks.changed(look)
            this.#drawControls()
            void this.#draw()
          },
        ),
      )
    if (shape.length > 1) {
      const dimensions = shape.map((_, at) => [String(at), this.#nameOf(at)] as const)
      const choose = (side: 'down' | 'right', value: number): void => {
        if (side === 'down') {
          if (this.#right === value) this.#right = this.#down
          this.#down = value
        } else {
          if (this.#down === value) this.#down = this.#right
          this.#right = value
        }
        this.#at = this.#at.map(() => 0)
        this.#drawControls()
        void this.#draw()
      }
      choices.push(
        makeChoice(t('viewer.hdf5.rows'), dimensions, String(this.#down), value => choose('down', Number(value))),
        makeChoice(t('viewer.hdf5.columns'), dimensions, String(this.#right), value => choose('right', Number(value))),
      )
    }
    for (const [dimension, size] of shape.entries()) {
      const isAxis = dimension === this.#down || (dimension === this.#right && this.#look !== 'plot')
      if (isAxis) choices.push(...this.#window(dimension, size))
      else if (size > 1) choices.push(this.#index(dimension, size, this.#nameOf(dimension), 1))
    }
    this.#controls.replaceChildren(...choices)
  }

  /** The control for the offset in a dimension too large to be read as a whole. */
  #window(dimension: number, size: number): readonly Node[] {
    const span = this.#span(dimension)
    if (span >= size) return []
    const key = dimension === this.#down ? 'viewer.hdf5.fromRow' : 'viewer.hdf5.fromColumn'
    return [this.#index(dimension, size, this.#hooks.t(key), span)]
  }

  #index(dimension: number, size: number, label: string, step: number): HTMLElement {
    const last = Math.max(0, size - step)
    const input = make('input', {
      className: 'input array-index',
      type: 'number',
      min: '0',
      max: String(size - 1),
      value: String(this.#at[dimension]),
      on: { change: () => go(Number.parseInt(input.value, 10) || 0) },
    })
    const go = (to: number): void => {
      this.#at[dimension] = Math.min(step === 1 ? size - 1 : last, Math.max(0, to))
      input.value = String(this.#at[dimension])
      void this.#draw()
    }
    const { t } = this.#hooks
    return make(
      'span',
      { className: 'group' },
      make('label', { className: 'view-choice' }, make('span', {}, label), input),
      makeButton(t('viewer.hdf5.back', { name: label }), () => go((this.#at[dimension] ?? 0) - step), '‹'),
      makeButton(t('viewer.hdf5.forward', { name: label }), () => go((this.#at[dimension] ?? 0) + step), '›'),
    )
  }

  /** Number of values read in a dimension. */
  #span(dimension: number): number {
    const size = this.#about.shape[dimension] ?? 1
    if (this.#look === 'plot') return dimension === this.#down ? Math.min(size, maxPlotted) : 1
    if (this.#look === 'map') return Math.min(size, maxSide)
    return Math.min(size, dimension === this.#down ? tableRows : tableColumns)
  }

  async #draw(): Promise<void> {
    this.#run++
    const run = this.#run
    const { t, slice, signal } = this.#hooks
    const { shape } = this.#about
    const ranges = shape.map((size, dimension): readonly [number, number] => {
      const isAxis = dimension === this.#down || dimension === this.#right
      const start = this.#at[dimension] ?? 0
      return [start, Math.min(size, start + (isAxis ? this.#span(dimension) : 1))]
    })
    if (ranges.some(([start, stop]) => stop <= start)) {
      this.#status.textContent = t('viewer.hdf5.noValues')
      return
    }
    try {
      const values = await slice(ranges, this.#look === 'table')
      if (run !== this.#run || signal.aborted) return
      this.#undraw()
      this.#undraw = () => undefined
      this.#body.replaceChildren()
      this.#status.textContent = ''
      this.#show(values, ranges)
    } catch (error) {
      if (run !== this.#run || signal.aborted) return
      const { name, message } = error as Error
      this.#body.replaceChildren()
      this.#status.textContent = name === 'UnknownFilter' ? t('viewer.hdf5.filter', { name: message }) : t('viewer.hdf5.unread')
    }
  }

  #show(values: Slice, ranges: readonly (readonly [number, number])[]): void {
    const [top, bottom] = ranges[this.#down] ?? [0, 1]
    const [left, right] = ranges[this.#right] ?? [0, 1]
    const rows = bottom - top
    const columns = this.#right === -1 ? 1 : right - left
    // Values are in the order of the dimensions, so they are transposed if the column dimension comes first.
    const placeOf = (row: number, column: number): number =>
      this.#right !== -1 && this.#right < this.#down ? column * rows + row : row * columns + column
    if (this.#look === 'plot') this.#plot(values as Float64Array, top)
    else if (this.#look === 'map') {
      const turned = Float64Array.from(
        { length: rows * columns },
        (_, at) => values[placeOf(Math.floor(at / columns), at % columns)] as number,
      )
      this.#map(turned, rows, columns, top, left)
    } else this.#table(values, { rows, columns, top, left }, placeOf)
  }

  #table(
    values: Slice,
    { rows, columns, top, left }: { readonly rows: number; readonly columns: number; readonly top: number; readonly left: number },
    placeOf: (row: number, column: number) => number,
  ): void {
    const { t } = this.#hooks
    const { shape, isNumeric } = this.#about
    const text = (value: number | string | undefined): string =>
      typeof value === 'string' ? value : value === undefined || Number.isNaN(value) ? '' : numberText(value, this.#about)
    const heads = ['', ...Array.from({ length: columns }, (_, at) => (this.#right === -1 ? t('viewer.hdf5.value') : String(left + at)))]
    const cells = Array.from({ length: rows }, (_, row) => [
      shape.length === 0 ? '' : String(top + row),
      ...Array.from({ length: columns }, (_, column) => text(values[placeOf(row, column)])),
    ])
    const caption =
      shape.length === 0 ? t('viewer.hdf5.value') : t('viewer.hdf5.shown', { from: top, to: top + rows - 1, all: shape[this.#down] ?? 0 })
    const table = makeTable(caption, heads, cells, true)
    if (isNumeric) table.classList.add('numbers')
    this.#body.append(makeScroller(t('viewer.hdf5.looks.table'), table))
  }

  #plot(values: Float64Array, first: number): void {
    const { t, language } = this.#hooks
    const { units, shape } = this.#about
    const box = make('div', { className: 'array-plot sheet' })
    this.#body.append(box)
    const value = units === '' ? t('viewer.hdf5.value') : units
    const texts = {
      index: t('viewer.hdf5.index'),
      value,
      label: t('viewer.hdf5.plotOf', { count: values.length, number: values.length }),
      language,
    }
    const stopWatching = new AbortController()
    let undraw = drawLine(box, values, first, texts)
    const redraw = (): void => {
      undraw()
      undraw = drawLine(box, values, first, texts)
    }
    onSchemeChange(stopWatching.signal, redraw)
    this.#undraw = () => {
      stopWatching.abort()
      undraw()
    }
    const size = shape[this.#down] ?? 0
    if (values.length < size) this.#status.textContent = t('viewer.hdf5.part', { from: first, to: first + values.length - 1, all: size })
  }

  #map(values: Float64Array, rows: number, columns: number, top: number, left: number): void {
    const { t, language } = this.#hooks
    const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 9 })
    const at = make('p', { className: 'help view-status', attributes: { role: 'status' } }, t('viewer.hdf5.mapKeys'))
    const label = t('viewer.hdf5.mapOf', { rows, columns })
    const say = (row: number, column: number, value: number): void => {
      const shown = Number.isFinite(value) ? number.format(value) : t('viewer.hdf5.missing')
      at.textContent = t('viewer.hdf5.valueAt', { row: top + row, column: left + column, value: shown })
    }
    this.#body.append(drawHeatMap(values, rows, columns, { label, language, say }), at)
    const [down = 0, right = 0] = [this.#about.shape[this.#down], this.#about.shape[this.#right]]
    if (rows < down || columns < right) this.#status.textContent = t('viewer.hdf5.mapPart', { rows, columns, down, right })
  }
}
