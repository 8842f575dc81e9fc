/** The output of Node's `--cpu-prof`: samples are ids of nodes; the time deltas between them are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
  /** Microseconds of the system's monotonic clock. */
  readonly startTime: number
}

/** A frame of the graph: all calls of one function from one caller. */
export interface Frame {
  readonly name: string
  /** Microseconds in the function and its callees. */
  totalUs: number
  /** Microseconds in the function itself. */
  selfUs: number
  readonly children: Map<string, Frame>
}

type Node = CpuProfile['nodes'][number]

const newFrame = (name: string): Frame => ({ name, totalUs: 0, selfUs: 0, children: new Map() })

/** Function and file; for packages and Node itself, the name of the package or module. */
const nameOf = ({ functionName, url }: Node['callFrame']): string => {
  const place = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? /([^/]+)$/.exec(url)?.[1]
  return place === undefined ? functionName || '(anonymous)' : `${functionName || '(anonymous)'} ${place}`
}

/** The call tree with the sampled time of each frame since `fromUs` of the monotonic clock, without idle time. */
export const framesOf = ({ nodes, samples, timeDeltas, startTime }: CpuProfile, fromUs: number): Frame => {
  const self = new Map<number, number>()
  let now = startTime
  for (const [at, id] of samples.entries()) {
    const delta = Math.max(0, timeDeltas[at] ?? 0)
    now += delta
    if (now > fromUs) self.set(id, (self.get(id) ?? 0) + delta)
  }
  const byId = new Map(nodes.map(node => [node.id, node]))
  const add = (node: Node, into: Frame): number => {
    const own = self.get(node.id) ?? 0
    into.selfUs += own
    let total = own
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (!child || child.callFrame.functionName === '(idle)' || child.callFrame.functionName === '(program)') continue
      const name = nameOf(child.callFrame)
      const frame = into.children.get(name) ?? newFrame(name)
      into.children.set(name, frame)
      total += add(child, frame)
    }
    into.totalUs += total
    return total
  }
  const root = newFrame('all')
  if (nodes[0]) add(nodes[0], root)
  return root
}

const width = 1000
const rowHeight = 17
/** Narrower frames are omitted: they are unreadable and make the image large. */
const leastShare = 0.004
const maxRows = 40
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** An orange whose lightness derives from the name; a name has the same colour in every image. */
const colourOf = (name: string): string => {
  let hash = 7
  for (const letter of name) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0
  return `hsl(${24 + (hash % 26)} 78% ${62 + ((hash >> 8) % 14)}%)`
}

const style = 'text{font:11px system-ui,sans-serif;fill:#1d2530}.title{font-size:13px;font-weight:600}.sheet{fill:#fffdf8}'

/** A flame graph: callers below, callees above, widths proportional to time; siblings are ordered by name, so that two graphs can be compared. */
export const drawFlame = (root: Frame, title: string): string => {
  const boxes: { readonly frame: Frame; readonly x: number; readonly row: number }[] = []
  const place = (frame: Frame, x: number, row: number): void => {
    boxes.push({ frame, x, row })
    if (row === maxRows) return
    let at = x
    for (const child of [...frame.children.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (child.totalUs >= root.totalUs * leastShare) place(child, at, row + 1)
      at += child.totalUs
    }
  }
  place(root, 0, 0)
  const rows = Math.max(...boxes.map(({ row }) => row)) + 1
  const height = 32 + rows * rowHeight
  const drawn = boxes.map(({ frame, x, row }) => {
    const [left, wide] = [(x / root.totalUs) * width, (frame.totalUs / root.totalUs) * width]
    const top = height - 6 - (row + 1) * rowHeight
    const share = `${((frame.totalUs / root.totalUs) * 100).toFixed(1)} %`
    const letters = Math.floor((wide - 6) / 5.6)
    const shown = frame.name.length <= letters ? frame.name : `${frame.name.slice(0, Math.max(0, letters - 1))}…`
    const text = letters < 3 ? '' : `<text x="${(left + 3).toFixed(1)}" y="${top + 12}">${escaped(shown)}</text>`
    const box = `<rect x="${left.toFixed(1)}" y="${top}" width="${Math.max(0.3, wide - 0.5).toFixed(1)}" height="${rowHeight - 1}" rx="1" fill="${colourOf(frame.name)}"/>`
    return `<g><title>${escaped(frame.name)}: ${share}</title>${box}${text}</g>`
  })
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`
  const head = `<rect class="sheet" width="${width}" height="${height}"/><text class="title" x="3" y="17">${escaped(title)}</text>`
  return `${open}<style>${style}</style>${head}\n${drawn.join('\n')}</svg>\n`
}
