import { make, makeScroller, makeTable } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { atWork } from '../lib/at-work.ts'
import { isRequestFailed, unreadBecause } from '../lib/request-failed.ts'
import { Tree } from '../lib/tree.ts'
import { callsThrough } from '../lib/worker-calls.ts'
import { ArrayView, type Look } from './array-view.ts'
import type { Description, NodeList, Slice, TreeNode } from './scientific-file.ts'
import '../viewers.css'
import './hdf5.css'

type Call = ReturnType<typeof callsThrough>

/** Parses "map:/entry/image": how an array is shown, and its path. */
const stateOf = (text: string | undefined): { readonly look: Look; readonly path: string } => {
  const [, look = 'table', path = '/'] = /^(table|plot|map):(\/.*)$/s.exec(text ?? '') ?? []
  return { look: look as Look, path }
}

/** The ancestors of a path, from the top, and the path itself. */
const stepsTo = (path: string): readonly string[] => {
  const names = path.split('/').filter(each => each !== '')
  return names.map((_, at) => `/${names.slice(0, at + 1).join('/')}`)
}

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const worker = new Worker(new URL('./hdf5-worker.ts', import.meta.url), { type: 'module', name: 'hdf5' })
  const stop = new AbortController()
  const close = (): void => {
    stop.abort()
    worker.terminate()
    element.replaceChildren()
  }
  host.signal.addEventListener('abort', () => worker.terminate())
  try {
    const call = callsThrough(worker, { reading: () => atWork(host) })
    const broken = new Promise<never>((_, reject) => worker.addEventListener('error', reject))
    broken.catch(() => undefined)
    const url = new URL(host.url, location.href).href
    const format = await Promise.race([call<string>('open', url, host.thing.sizeBytes), broken])
    host.signal.throwIfAborted()
    await draw(element, host, { call, format, signal: stop.signal })
  } catch (cause) {
    close()
    host.signal.throwIfAborted()
    throw await unreadBecause(host, host.t(isRequestFailed(cause) ? 'viewer.hdf5.unread' : 'viewer.hdf5.damaged'), cause)
  }
  return close
}

interface Opened {
  readonly call: Call
  readonly format: string
  readonly signal: AbortSignal
}

const draw = async (element: HTMLElement, host: ViewerHost, { call, format, signal }: Opened): Promise<void> => {
  const { t } = host
  let { look } = stateOf(host.state.get())
  const about = make('div', { className: 'view-box', attributes: { role: 'region', 'aria-label': t('viewer.hdf5.chosen') } })
  let drawn = new AbortController()
  signal.addEventListener('abort', () => drawn.abort())
  const show = async (node: { readonly path: string; readonly name: string; readonly target?: string | undefined }): Promise<void> => {
    drawn.abort()
    drawn = new AbortController()
    const ours = drawn.signal
    const remember = (): void => host.state.set(node.path === '/' ? undefined : `${look}:${node.path}`)
    remember()
    const title = make('h2', { dir: 'auto' }, node.name)
    if (node.target !== undefined) {
      about.replaceChildren(title, make('p', { className: 'help' }, t('viewer.hdf5.link', { target: node.target })))
      return
    }
    try {
      const described = await call<Description>('describe', node.path)
      if (ours.aborted) return
      const arrays =
        described.kind === 'array'
          ? [
              new ArrayView(described, {
                t,
                language: host.language,
                look,
                signal: ours,
                slice: (ranges, isExact) => call<Slice>('slice', node.path, ranges, isExact),
                changed: changed => {
                  look = changed
                  remember()
                },
              }).element,
            ]
          : []
      about.replaceChildren(title, propertiesOf(described, host), ...arrays, attributesOf(described, host))
    } catch {
      if (!ours.aborted) about.replaceChildren(title, make('p', { className: 'help' }, t('viewer.hdf5.unread')))
    }
  }
  const nodes = new Map<string, TreeNode>()
  const tree = new Tree({
    label: host.thing.name,
    async load(id) {
      const { nodes: found, total } = await call<NodeList>('children', id)
      for (const node of found) nodes.set(node.path, node)
      return {
        items: found.map(({ path, name, kind, shape }) => ({
          id: path,
          label: name,
          isGroup: kind === 'group',
          ...(kind === 'group'
            ? {}
            : { note: kind === 'array' ? (shape ?? []).join(' × ') || t('viewer.hdf5.scalar') : t(`viewer.hdf5.kinds.${kind}`) }),
        })),
        rest: total > found.length ? t('viewer.hdf5.more', { count: total - found.length, number: total - found.length }) : undefined,
      }
    },
    choose: ({ id, label }) => {
      const node = nodes.get(id)
      void show({ path: id, name: label, target: node?.kind === 'link' ? (node.target ?? '') : undefined })
    },
  })
  element.append(make('div', { className: 'hdf5' }, make('div', { className: 'hdf5-tree' }, tree.element), about))
  await tree.start({ id: '/', label: `${host.thing.name} (${format})`, isGroup: true }, stepsTo(stateOf(host.state.get()).path))
}

const propertiesOf = ({ kind, shape, type, storage, units, isScaled }: Description, { t }: ViewerHost): HTMLElement => {
  const facts = [
    ...(kind === 'array' ? [shape.length === 0 ? t('viewer.hdf5.scalar') : shape.join(' × '), type] : []),
    ...(units === '' ? [] : [units]),
    ...(storage.length === 0 ? [] : [t('viewer.hdf5.storage', { storage: storage.join(', ') })]),
    ...(isScaled ? [t('viewer.hdf5.scaled')] : []),
  ]
  return make('p', { className: 'help' }, facts.join(' · '))
}

const attributesOf = ({ attributes }: Description, { t }: ViewerHost): HTMLElement =>
  attributes.length === 0
    ? make('p', { className: 'help' }, t('viewer.hdf5.noAttributes'))
    : makeScroller(t('viewer.hdf5.attributes'), makeTable(t('viewer.hdf5.attributes'), [], attributes, true))
