type Json = Readonly<Record<string, unknown>>

/** An output of a cell, in the richest supported format. */
export type Output =
  | { readonly kind: 'text' | 'error'; readonly text: string }
  | { readonly kind: 'html' | 'markdown'; readonly text: string }
  | { readonly kind: 'picture'; readonly source: string }
  | { readonly kind: 'unknown'; readonly types: readonly string[] }

export interface Cell {
  readonly kind: 'markdown' | 'code' | 'raw'
  readonly source: string
  readonly count: number | undefined
  readonly outputs: readonly Output[]
}

export interface Notebook {
  readonly language: string
  readonly cells: readonly Cell[]
}

const maxOutput = 200_000
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const text = (value: unknown): string => {
  const whole = Array.isArray(value) ? value.filter(part => typeof part === 'string').join('') : typeof value === 'string' ? value : ''
  return whole.length > maxOutput ? `${whole.slice(0, maxOutput)}…` : whole
}
const terminalCodes = /\x1b\[[0-9;?]*[A-Za-z]/g
const plainText = (value: unknown): string => text(value).replace(terminalCodes, '')

const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
/** Length in Base64, of about 20 MB decoded. */
const maxPictureLength = 27_000_000

const pictureOf = (data: Json, type: string): Output | undefined => {
  const value = data[type]
  const base64 = (Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '').replace(/\s/g, '')
  return base64 !== '' && base64.length <= maxPictureLength && /^[A-Za-z0-9+/]+=*$/.test(base64)
    ? { kind: 'picture', source: `data:${type};base64,${base64}` }
    : undefined
}

const richest = (data: Json): Output => {
  for (const type of pictureTypes) {
    const picture = type in data ? pictureOf(data, type) : undefined
    if (picture) return picture
  }
  if ('text/html' in data) return { kind: 'html', text: text(data['text/html']) }
  if ('text/markdown' in data) return { kind: 'markdown', text: text(data['text/markdown']) }
  if ('text/latex' in data && !('text/plain' in data)) return { kind: 'text', text: text(data['text/latex']) }
  if ('text/plain' in data) return { kind: 'text', text: plainText(data['text/plain']) }
  if ('application/json' in data) return { kind: 'text', text: JSON.stringify(data['application/json'], undefined, 2).slice(0, maxOutput) }
  return { kind: 'unknown', types: Object.keys(data) }
}

const outputOf = (output: unknown): readonly Output[] => {
  if (!isObject(output)) return []
  const { output_type: type, data, name } = output
  if (type === 'stream') return [{ kind: name === 'stderr' ? 'error' : 'text', text: plainText(output['text']) }]
  if (type === 'error' || type === 'pyerr') {
    const traceback = list(output['traceback']).filter(line => typeof line === 'string')
    const message = `${text(output['ename'])}: ${text(output['evalue'])}`
    return [{ kind: 'error', text: plainText(traceback.length > 0 ? traceback.join('\n') : message) }]
  }
  return isObject(data) ? [richest(data)] : []
}

/** Replaces links to attachments of a Markdown cell by the pictures. */
const withAttachments = (source: string, attachments: unknown): string => {
  if (!isObject(attachments)) return source
  return source.replace(/attachment:([^)\s"']+)/g, (whole, name: string) => {
    const data = attachments[decodedName(name)]
    const type = isObject(data) ? pictureTypes.find(each => each in data) : undefined
    const picture = type && isObject(data) ? pictureOf(data, type) : undefined
    return picture?.kind === 'picture' ? picture.source : whole
  })
}

const decodedName = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const cellOf = (cell: unknown): Cell[] => {
  if (!isObject(cell)) return []
  const { cell_type: type, execution_count: count, prompt_number: number } = cell
  const kind = type === 'markdown' || type === 'code' ? type : type === 'heading' ? 'markdown' : 'raw'
  const source = text(cell['source'] ?? cell['input'])
  const shown = type === 'heading' ? `${'#'.repeat(Math.min(6, Number(cell['level']) || 1))} ${source}` : source
  return [
    {
      kind,
      source: kind === 'markdown' ? withAttachments(shown, cell['attachments']) : shown,
      count: typeof count === 'number' ? count : typeof number === 'number' ? number : undefined,
      outputs: list(cell['outputs']).flatMap(outputOf),
    },
  ]
}

/** Parses a Jupyter notebook, format 3 or 4; undefined if it is not one. */
export const notebookOf = (source: string): Notebook | undefined => {
  let json: unknown
  try {
    json = JSON.parse(source)
  } catch {
    return undefined
  }
  if (!isObject(json)) return undefined
  const [sheet] = list(json['worksheets'])
  const cells = Array.isArray(json['cells']) ? json['cells'] : isObject(sheet) ? list(sheet['cells']) : undefined
  if (!cells) return undefined
  const metadata = isObject(json['metadata']) ? json['metadata'] : {}
  const info = isObject(metadata['language_info'])
    ? metadata['language_info']
    : isObject(metadata['kernelspec'])
      ? metadata['kernelspec']
      : {}
  const language = text(info['name'] ?? info['language']) || 'python'
  return { language, cells: cells.flatMap(cellOf) }
}
