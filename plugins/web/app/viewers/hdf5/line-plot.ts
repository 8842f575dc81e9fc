import uPlot from 'uplot'
import { colorOf } from '../dom.ts'
import 'uplot/dist/uPlot.min.css'

/** Maximum number of points; of more values, the minimum and maximum of each interval are drawn. */
const maxPoints = 4000

/** Indexes of the values to draw, so that no peak is lost. */
const drawnPlaces = (values: Float64Array): readonly number[] => {
  if (values.length <= maxPoints) return Array.from(values, (_, at) => at)
  const stretch = Math.ceil(values.length / (maxPoints / 2))
  const places: number[] = []
  for (let start = 0; start < values.length; start += stretch) {
    let low = start
    let high = start
    for (let at = start; at < Math.min(values.length, start + stretch); at++) {
      const value = values[at] as number
      if (value < (values[low] as number) || Number.isNaN(values[low])) low = at
      if (value > (values[high] as number) || Number.isNaN(values[high])) high = at
    }
    places.push(Math.min(low, high), ...(low === high ? [] : [Math.max(low, high)]))
  }
  return places
}

interface PlotTexts {
  readonly index: string
  readonly value: string
  readonly label: string
  readonly language: string
}

/** A line plot of values by index, with gaps for missing values. */
export const drawLine = (
  element: HTMLElement,
  values: Float64Array,
  first: number,
  { index, value, label, language }: PlotTexts,
): (() => void) => {
  const places = drawnPlaces(values)
  const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 6 })
  const color = colorOf('verdigris', element)
  const axis = {
    stroke: colorOf('faded', element),
    grid: { stroke: colorOf('rule', element), width: 1 },
    ticks: { stroke: colorOf('rule', element) },
  }
  const plot = new uPlot(
    {
      width: Math.max(200, element.clientWidth),
      height: 360,
      scales: { x: { time: false } },
      axes: [{ ...axis }, { ...axis, size: 70, values: (_, ticks) => ticks.map(each => number.format(each)) }],
      series: [
        { label: index, value: (_, at) => (at === null ? '' : number.format(at)) },
        { label: value, stroke: color, width: 1.5, value: (_, at) => (at === null ? '' : number.format(at)) },
      ],
    },
    [places.map(at => at + first), places.map(at => (Number.isFinite(values[at]) ? (values[at] as number) : null))],
    element,
  )
  plot.root.setAttribute('role', 'img')
  plot.root.setAttribute('aria-label', label)
  const resized = new ResizeObserver(() => plot.setSize({ width: Math.max(200, element.clientWidth), height: 360 }))
  resized.observe(element)
  return () => {
    resized.disconnect()
    plot.destroy()
  }
}
