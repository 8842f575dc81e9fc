import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { IconButton } from '../../components/controls.tsx'
import { Loading } from '../../components/page-parts.tsx'
import { number } from '../../lib/format.ts'
import { currentLanguage, t } from '../../lib/i18n.ts'
import { columnName, measureText } from './column-texts.ts'
import type { PlotData } from './engine/plot-data.ts'
import type { ColumnType, TableColumn } from './engine/table-source.ts'
import { isMeasured } from './engine/values.ts'
import { isSuperseded, type TableClient } from './table-client.ts'
import { usePanel } from './use-panel.ts'

const maxSeries = 3
/** Maximum number of columns in a select element. */
const maxChoices = 500
const rowNumbers = -1
const nothing = -2
const strokes = ['--lapis', '--sandarac', '--moss']

/** A plot of columns over another one, with the same data in a table below. */
export const PlotPanel = <W, D>({
  client,
  columns,
  version,
  chosen,
  onClose,
}: {
  readonly client: TableClient<W, D>
  readonly columns: readonly TableColumn[]
  /** Changes when the rows drawn change. */
  readonly version: number
  readonly chosen: number | undefined
  readonly onClose: () => void
}) => {
  const panel = usePanel(onClose)
  const choices = columns.map((_, at) => at).filter(at => isMeasured(columns[at]?.type ?? 'text'))
  const numbers = choices.filter(at => columns[at]?.type !== 'date')
  const [x, setX] = useState(() => choices.find(at => columns[at]?.type === 'date') ?? rowNumbers)
  const [ys, setYs] = useState<readonly number[]>(() =>
    [chosen ?? numbers.find(at => columns[at]?.type === 'number') ?? numbers[0] ?? nothing].filter(at => at >= 0),
  )
  const [isLine, setLine] = useState(true)
  const [data, setData] = useState<PlotData>()
  const [error, setError] = useState<string>()
  const key = ys.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: reloads the points when rows change
  useEffect(() => {
    if (key === '') return
    client.plot(x === rowNumbers ? undefined : x, key.split(',').map(Number)).then(
      found => {
        setData(found)
        setError(undefined)
      },
      failure => isSuperseded(failure) || setError((failure as Error).message),
    )
  }, [client, x, key, version])
  if (choices.length === 0) return <p className="empty">{t('viewer.table.nothingToPlot')}</p>
  const xType = x === rowNumbers ? 'integer' : (columns[x]?.type ?? 'number')
  const xName = x === rowNumbers ? t('viewer.table.rowNumber') : columnName(columns, x)
  const names = ys.map(at => columnName(columns, at))
  const types = ys.map(at => columns[at]?.type ?? 'number')
  const options = (list: readonly number[]) =>
    list.slice(0, maxChoices).map(at => (
      <option key={at} value={at}>
        {columnName(columns, at)}
      </option>
    ))
  return (
    <section {...panel} className="sheet plot-panel" aria-label={t('viewer.table.plot')}>
      <div className="plot-choices">
        <label>
          {t('viewer.table.plotX')}
          <select className="input" value={x} onChange={event => setX(Number(event.target.value))}>
            <option value={rowNumbers}>{t('viewer.table.rowNumber')}</option>
            {options(choices)}
          </select>
        </label>
        {[...ys, ...(ys.length < maxSeries ? [nothing] : [])].map((y, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: fields are identified by position
          <label key={at}>
            {t('viewer.table.plotY', { number: at + 1 })}
            <select
              className="input"
              value={y}
              onChange={event => {
                const next = Number(event.target.value)
                setYs(next === nothing ? ys.filter((_, other) => other !== at) : [...ys.slice(0, at), next, ...ys.slice(at + 1)])
              }}
            >
              {(y === nothing || ys.length > 1) && <option value={nothing}>{t('viewer.table.plotNothing')}</option>}
              {options(choices)}
            </select>
          </label>
        ))}
        <label>
          {t('viewer.table.plotAs')}
          <select className="input" value={isLine ? 'line' : 'points'} onChange={event => setLine(event.target.value === 'line')}>
            <option value="line">{t('viewer.table.line')}</option>
            <option value="points">{t('viewer.table.points')}</option>
          </select>
        </label>
        <IconButton icon="x" label={t('close')} onPress={onClose} />
      </div>
      {error !== undefined && <p className="viewer-warning failed">{error}</p>}
      {data ? (
        <>
          <Plot data={data} xName={xName} xType={xType} names={names} isLine={isLine} />
          <p className="help">
            {t('viewer.table.plotRows', { count: data.rows, shown: number(data.rows) })}
            {data.isReduced && ` ${t('viewer.table.plotReduced')}`}
          </p>
          <details>
            <summary>{t('viewer.table.plotTable')}</summary>
            <StepTable data={data} xName={xName} xType={xType} names={names} types={types} />
          </details>
        </>
      ) : (
        <Loading />
      )}
    </section>
  )
}

/** A colour of the page in a form that canvases accept. */
const colourIn = (element: HTMLElement, token: string): string => {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const dayMs = 86_400_000
const timeTexts = (values: readonly number[]): readonly string[] => {
  const isByDay = values.length < 2 || (values[1] ?? 0) - (values[0] ?? 0) >= dayMs
  const format = new Intl.DateTimeFormat(currentLanguage(), {
    timeZone: 'UTC',
    ...(isByDay ? { dateStyle: 'medium' as const } : { timeStyle: 'short' as const }),
  })
  return values.map(value => format.format(value))
}

const Plot = ({
  data,
  xName,
  xType,
  names,
  isLine,
}: {
  readonly data: PlotData
  readonly xName: string
  readonly xType: ColumnType
  readonly names: readonly string[]
  readonly isLine: boolean
}) => {
  const box = useRef<HTMLDivElement>(null)
  const nameKey = JSON.stringify([xName, ...names])
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    let plot: uPlot | undefined
    const draw = (): void => {
      plot?.destroy()
      const [axis, grid] = [colourIn(element, '--faded'), colourIn(element, '--rule')]
      const [label = '', ...series] = JSON.parse(nameKey) as string[]
      const axisLook = {
        stroke: axis,
        grid: { stroke: grid, width: 1 },
        ticks: { stroke: grid, width: 1 },
        font: '12px system-ui',
        labelFont: '12px system-ui',
      }
      const step = xType === 'date' ? 1 : 0
      plot = new uPlot(
        {
          width: Math.max(200, element.clientWidth),
          height: 300,
          scales: { x: { time: false } },
          axes: [
            {
              ...axisLook,
              label,
              space: xType === 'date' ? 110 : 80,
              values: (_, splits) => (step ? timeTexts(splits) : splits.map(value => measureText(value, 'number'))) as string[],
            },
            { ...axisLook, size: 70, values: (_, splits) => splits.map(value => measureText(value, 'number')) },
          ],
          series: [
            { label, value: (_, value) => (value === null ? '–' : measureText(value, xType)) },
            ...series.map((name, at) => {
              const stroke = colourIn(element, strokes[at] ?? '--lapis')
              const dash = at === 0 || !isLine ? [] : [4 * at, 4]
              return {
                label: name,
                stroke,
                dash,
                width: isLine ? 1.5 : 0,
                value: (_: uPlot, value: number | null) => (value === null ? '–' : measureText(value, 'number')),
                points: { show: !isLine, size: 4, fill: stroke, stroke, width: 0 },
                ...(isLine ? {} : { paths: () => null }),
              }
            }),
          ],
        },
        [data.x, ...data.ys] as unknown as uPlot.AlignedData,
        element,
      )
    }
    draw()
    const sizes = new ResizeObserver(() => plot?.setSize({ width: Math.max(200, element.clientWidth), height: 300 }))
    sizes.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    const theme = new MutationObserver(draw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      sizes.disconnect()
      theme.disconnect()
      scheme.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [data, nameKey, xType, isLine])
  return <div ref={box} className="plot" role="img" aria-label={t('viewer.table.plotLabel', { x: xName, y: names.join(', ') })} />
}

const StepTable = ({
  data: { steps },
  xName,
  xType,
  names,
  types,
}: {
  readonly data: PlotData
  readonly xName: string
  readonly xType: ColumnType
  readonly names: readonly string[]
  readonly types: readonly ColumnType[]
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
  <section className="plot-table" tabIndex={0} aria-label={t('viewer.table.plotTable')}>
    <table className="table">
      <thead>
        <tr>
          <th scope="col">{xName}</th>
          {names.map((name, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a column may be drawn twice
            <th key={at} scope="col" className="number">
              {t('viewer.table.stepColumn', { name })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {steps.map(({ from, to, ys }, step) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are identified by position
          <tr key={step}>
            <th scope="row">{from === to ? measureText(from, xType) : `${measureText(from, xType)} – ${measureText(to, xType)}`}</th>
            {ys.map(({ count, min, mean, max }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column may be drawn twice
              <td key={at} className="number">
                {count === 0 ? '–' : [min, mean, max].map(value => measureText(value, types[at] ?? 'number')).join(' / ')}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
