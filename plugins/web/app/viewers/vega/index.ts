import { type Loader, logger, None, parse, type Spec, View } from 'vega'
import { expressionInterpreter } from 'vega-interpreter'
import { colorOf, make, makeScroller, makeTable, onSchemeChange } from '../dom.ts'
import type { ViewedThing, ViewerHost } from '../host.ts'
import { grammarOf, makesTooMuch, outsideLink } from './specification.ts'
import '../viewers.css'
import './vega.css'

const tableRows = 100
const tableColumns = 20
/** Larger JSON files are not checked for a chart. */
const maxConfirmedBytes = 1_000_000

const read = async (host: ViewerHost): Promise<unknown> => JSON.parse(new TextDecoder().decode(await host.read(0, host.thing.sizeBytes)))

const isNamedSo = ({ contentType, name }: ViewedThing): boolean =>
  /vega/.test(contentType) || /\.(?:vg|vl|vega|vegalite)(?:\.json)?$/i.test(name)

/** Accepts charts by media type or name, and JSON that declares a Vega schema. */
export const canShow = async (thing: ViewedThing, host: ViewerHost): Promise<boolean> => {
  if (isNamedSo(thing)) return true
  if (thing.sizeBytes > maxConfirmedBytes) return false
  const start = new TextDecoder().decode(await host.read(0, 1000))
  return /"\$schema"\s*:\s*"https:\/\/vega\.github\.io\/schema\/vega/.test(start)
}

/** A loader that refuses everything but embedded images. */
const closedLoader = (host: ViewerHost): Loader => {
  const refuse = async (uri: string): Promise<never> => {
    throw new Error(host.t('viewer.vega.outside', { link: uri }))
  }
  return {
    load: refuse,
    http: refuse,
    file: refuse,
    sanitize: async uri => (uri.startsWith('data:image/') ? { href: uri } : refuse(uri)),
  } as Loader
}

/** Default colours of axes, labels and marks, from the page. */
const colorsOf = (element: HTMLElement) => {
  const [ink, faded, rule, verdigris] = ['ink', 'faded', 'rule', 'verdigris'].map(token => colorOf(token, element))
  const text = { labelColor: faded, titleColor: ink }
  return {
    background: 'transparent',
    axis: { ...text, gridColor: rule, domainColor: faded, tickColor: faded },
    legend: text,
    header: text,
    title: { color: ink, subtitleColor: faded },
    text: { color: ink, fill: ink },
    view: { stroke: rule },
    mark: { color: verdigris },
    ...Object.fromEntries(['arc', 'area', 'bar', 'rect', 'symbol', 'path', 'shape'].map(each => [each, { fill: verdigris }])),
    ...Object.fromEntries(['line', 'rule', 'trail'].map(each => [each, { stroke: verdigris }])),
  }
}

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const { t } = host
  let specification: unknown
  try {
    specification = await read(host)
  } catch (cause) {
    host.signal.throwIfAborted()
    if (!(cause instanceof SyntaxError)) throw cause
    throw new Error(t('viewer.vega.damaged'), { cause })
  }
  const grammar = grammarOf(specification)
  if (!grammar) throw new Error(t('viewer.vega.damaged'))
  const link = outsideLink(specification)
  if (link !== undefined) throw new Error(t('viewer.vega.outside', { link: link.slice(0, 200) }))
  if (makesTooMuch(specification)) throw new Error(t('viewer.vega.tooMuch'))
  const box = make('div', { className: 'vega-chart sheet' })
  const below = make('div')
  const view = make('div', { className: 'view-box' }, makeScroller(t('viewer.vega.chart', { name: host.thing.name }), box), below)
  element.append(view)
  const stop = new AbortController()
  let drawn: View | undefined
  const drawAgain = async (): Promise<void> => {
    const next = await draw(box, specification, grammar, host)
    drawn?.finalize()
    drawn = next.view
    below.replaceChildren(...tableOf(next.view, next.names, host))
  }
  const close = (): void => {
    stop.abort()
    drawn?.finalize()
    view.remove()
  }
  try {
    await drawAgain()
    host.signal.throwIfAborted()
  } catch (cause) {
    close()
    host.signal.throwIfAborted()
    throw new Error(t('viewer.vega.damaged'), { cause })
  }
  onSchemeChange(stop.signal, () => void drawAgain().catch(() => undefined))
  return close
}

const draw = async (box: HTMLElement, specification: unknown, grammar: 'vega' | 'vega-lite', host: ViewerHost) => {
  const config = colorsOf(box)
  const quiet = logger(None)
  const compiled =
    grammar === 'vega'
      ? (specification as Spec)
      : ((await import('vega-lite')).compile(specification as never, { config: config as never, logger: quiet as never }).spec as Spec)
  // The interpreter is used because the CSP of pages forbids evaluating code.
  const runtime = parse(compiled, grammar === 'vega' ? (config as never) : undefined, { ast: true })
  const view = new View(runtime, { expr: expressionInterpreter, loader: closedLoader(host), logger: quiet, renderer: 'canvas' } as never)
  box.replaceChildren()
  view.initialize(box).hover()
  await view.runAsync()
  box.querySelector('canvas')?.setAttribute('role', 'img')
  box
    .querySelector('canvas')
    ?.setAttribute('aria-label', String(view.description?.() || host.t('viewer.vega.chart', { name: host.thing.name })))
  return { view, names: (compiled.data ?? []).map(({ name }) => name) }
}

const textOf = (value: unknown): string =>
  value instanceof Date
    ? value.toISOString()
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value).slice(0, 200)
      : String(value ?? '')

/** The data of the chart as a table: the last data set that is not empty, the closest to what is drawn. */
const tableOf = (view: View, names: readonly string[], { t, language }: ViewerHost): readonly HTMLElement[] => {
  const tuples = names.map(name => view.data(name) as readonly Readonly<Record<string, unknown>>[]).findLast(each => each.length > 0)
  if (!tuples) return []
  const heads = Object.keys(tuples[0] ?? {}).slice(0, tableColumns)
  const rows = tuples.slice(0, tableRows).map(tuple => heads.map(head => textOf(tuple[head])))
  const number = new Intl.NumberFormat(language)
  const caption = t('viewer.vega.rows', { shown: number.format(rows.length), all: number.format(tuples.length) })
  return [make('details', {}, make('summary', {}, t('viewer.vega.data')), makeScroller(caption, makeTable(caption, heads, rows)))]
}
