import { Invalid } from 'pounce/sdk'

/** Lines of `Label: value`, by label in lower case; a line that begins with white space continues the previous one. */
export const readLabels = (text: string): ReadonlyMap<string, string> => {
  const labels = new Map<string, string>()
  for (const line of text
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')) {
    const colon = line.indexOf(':')
    const label = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase()
    if (label !== '' && !labels.has(label)) labels.set(label, line.slice(colon + 1).trim())
  }
  return labels
}

/** Supported digest algorithms of manifests. Others are ignored. */
export const algorithms: readonly string[] = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']

/** A line of a manifest. */
export interface Listed {
  /** As written. */
  readonly path: string
  /** Hex, in lower case. */
  readonly digest: string
}

/**
 * The lines of a manifest, one by one, so that a caller that finds a fault need not read the rest. Throws `Invalid` for a malformed line.
 */
export function* readManifest(text: string, name: string): Generator<Listed> {
  for (const line of linesOf(text)) {
    if (line.trim() === '') continue
    const gap = line.search(/[ \t]/)
    const [digest, path] = gap === -1 ? ['', ''] : [line.slice(0, gap), line.slice(gap).replace(/^[ \t]+/, '')]
    if (!/^[0-9a-fA-F]{32,128}$/.test(digest) || path === '') {
      throw new Invalid(`${name}: the line ${JSON.stringify(line.slice(0, 200))} is not a digest and a path`)
    }
    yield { path, digest: digest.toLowerCase() }
  }
}

/** The paths in `fetch.txt`, whose lines are a URL, a length and a path. Throws `Invalid` for a malformed line. */
export function* readFetched(text: string): Generator<string> {
  for (const line of linesOf(text)) {
    if (line.trim() === '') continue
    const path = /^\S+[ \t]+(?:\d+|-)[ \t]+(\S.*)$/.exec(line)?.[1]
    if (path === undefined) throw new Invalid(`fetch.txt: the line ${JSON.stringify(line.slice(0, 200))} is not a URL, a length and a path`)
    yield path
  }
}

/** Splits at line ends of any of the three kinds. */
function* linesOf(text: string): Generator<string> {
  let start = text.startsWith('\ufeff') ? 1 : 0
  for (const { index } of text.matchAll(/[\r\n]/g)) {
    yield text.slice(start, index)
    start = index + 1
  }
  yield text.slice(start)
}

/** Possible paths for a manifest entry, the likeliest first. `%` is written as `%25` from BagIt 1.0 on; md5sum writes `*` before names. */
export const meanings = (written: string, version: string): readonly string[] => {
  const lines = written.replace(/%0a/gi, '\n').replace(/%0d/gi, '\r')
  const all = lines.replace(/%25/g, '%')
  const [first, second] = Number.parseFloat(version) >= 1 ? [all, lines] : [lines, all]
  const paths = [first, second, written]
  return [
    ...new Set([...paths, ...paths.map(path => path.replace(/^\*/, ''))].map(path => path.replace(/^\.\//, '').replace(/\/{2,}/g, '/'))),
  ]
}

/** Of `bagit.txt`, of descriptions, and of tag files unless the bag declares another. */
export const usualEncoding = 'UTF-8'

/** The encoding of an XML document, which it declares itself. */
export const encodingOfXml = (bytes: Buffer): string => {
  if (['feff', 'fffe'].includes(bytes.toString('hex', 0, 2))) return 'UTF-16'
  return (
    /^(?:\u00ef\u00bb\u00bf)?<\?xml\s[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(bytes.toString('latin1', 0, 200))?.[1] ?? usualEncoding
  )
}

/** The text of a file. Throws `Invalid` when it is not in this encoding. */
export const decode = (bytes: Buffer, encoding: string, name: string): string => {
  const decoder = decoderOf(encoding, name)
  const isBigEndian = decoder.encoding === 'utf-16le' && bytes.toString('hex', 0, 2) === 'feff'
  try {
    return (isBigEndian ? decoderOf('UTF-16BE', name) : decoder).decode(bytes)
  } catch (error) {
    throw new Invalid(`${name} is not in ${encoding}`, { cause: error })
  }
}

const decoderOf = (encoding: string, name: string) => {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch (error) {
    const shown = JSON.stringify(encoding.slice(0, 100))
    throw new Invalid(`${name}: unknown encoding ${shown}; use UTF-8, or another one of the WHATWG Encoding Standard`, { cause: error })
  }
}
