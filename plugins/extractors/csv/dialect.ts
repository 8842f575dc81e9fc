import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

/** The format of a table. */
export interface Dialect {
  /** Names of the WHATWG Encoding Standard. */
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
  readonly delimiter: Delimiter
  /** True when lines that start with `#` precede the table. */
  readonly hasComments: boolean
}

export type Delimiter = ',' | '\t' | ';' | '|'

const sampleBytes = 64 << 10
const sampleLines = 200
const delimiters: readonly Delimiter[] = [',', '\t', ';', '|']

/** Detects the format of a table from its first bytes. Throws when they are not text. */
export async function readDialect(path: string, contentType: string): Promise<Dialect> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0)
  const head = buffer.subarray(0, bytesRead)
  const encoding = encodingOf(head)
  const text = new TextDecoder(encoding).decode(head)
  if (text.includes('\0')) throw new Error('The file is not a text table: it contains binary data.')
  return { encoding, ...shapeOf(text, contentType) }
}

function encodingOf(head: Buffer): Dialect['encoding'] {
  if (head.length >= 2 && head.readUInt16BE() === 0xfffe) return 'utf-16le'
  if (head.length >= 2 && head.readUInt16BE() === 0xfeff) return 'utf-16be'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

function shapeOf(text: string, contentType: string): Pick<Dialect, 'delimiter' | 'hasComments'> {
  const lines = linesOf(text)
  const candidates = delimiters.map(delimiter => {
    const counts = lines.map(line => line.split(delimiter).length - 1)
    const usual = mostFrequent(counts.filter(count => count > 0))
    const share = counts.filter(count => count === usual).length / Math.max(1, counts.length)
    const isNamed = delimiter === '\t' && /tab-separated|tsv/.test(contentType)
    return { delimiter, usual, score: usual === 0 ? 0 : share + (isNamed ? 1 : 0) }
  })
  const best = candidates.reduce((a, b) => (b.score > a.score ? b : a))
  const [first = ''] = lines
  return { delimiter: best.delimiter, hasComments: first.startsWith('#') && first.split(best.delimiter).length - 1 !== best.usual }
}

/** Lines outside quotation marks, without quoted text. The last one may be truncated and is only used if it is the only one. */
function linesOf(text: string): string[] {
  const lines = text
    .replace(/"[^"]*"/g, '')
    .split(/\r\n|\n|\r/)
    .slice(0, sampleLines)
  if (lines.length > 1) lines.pop()
  return lines.filter(line => line.trim() !== '')
}

function mostFrequent(counts: readonly number[]): number {
  const times = new Map<number, number>()
  for (const count of counts) times.set(count, (times.get(count) ?? 0) + 1)
  return [...times].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])[0] ?? 0
}

/** Streams a file as text; bytes that are not in its encoding become U+FFFD. */
export async function* decoded(path: string, encoding: string, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of createReadStream(path, { highWaterMark: 64 << 10, signal })) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
