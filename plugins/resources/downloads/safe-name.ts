import { trimEnd } from 'pounce/sdk'

const plain = /^[A-Za-z0-9_(][\w ()+,=@.-]{0,98}$/
/** Slashes of either kind, control characters, line separators, and what turns the direction of writing. */
const harmful = /[/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?=\.|$)/i
const drive = /^([A-Za-z]):/
const idBytes = 25
const longestEnding = 32

const hasEnding = (name: string): number => {
  const dot = name.lastIndexOf('.')
  return dot > 0 && Buffer.byteLength(name.slice(dot)) <= longestEnding ? dot : name.length
}

/** The longest beginning of some text that fits into so many bytes of UTF-8. */
const beginning = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  const encoded = Buffer.from(text)
  let end = bytes
  while (end > 0 && ((encoded[end] as number) & 0xc0) === 0x80) end--
  return encoded.toString('utf8', 0, end)
}

const shortened = (name: string, maxBytes: number): string => {
  if (name.length * 3 <= maxBytes || Buffer.byteLength(name) <= maxBytes) return name
  const ending = name.slice(hasEnding(name))
  return beginning(name.slice(0, name.length - ending.length), maxBytes - Buffer.byteLength(ending)) + ending
}

/**
 * A name as one part of a path that can be unpacked on any system: no slashes, control characters, `.` and `..`, drives, names of devices, dots
 * or spaces at its end, and at most `maxBytes` of UTF-8. Every other name stays as it is.
 */
export const safeName = (name: string, maxBytes: number): string => {
  const last = name.charCodeAt(name.length - 1)
  if (plain.test(name) && last !== 46 && last !== 32 && !device.test(name)) return shortened(name, maxBytes)
  const harmless = name.toWellFormed().replace(harmful, '_').replace(drive, '$1_')
  const safe = trimEnd(harmless, '. ')
    .padEnd(harmless.length, '_')
    .replace(device, found => `_${found}`)
  return shortened(safe === '' ? '_' : safe, maxBytes)
}

/** `name_<id>.ext`, which tells it apart from others of its name. */
export const nameWithId = (name: string, id: string, maxBytes: number): string => {
  const short = shortened(name, maxBytes - idBytes)
  const dot = hasEnding(short)
  return `${short.slice(0, dot)}_${id}${short.slice(dot)}`
}

/** What a name is on systems that do not tell upper from lower case, nor forms of one letter apart. */
export const folded = (name: string): string => name.normalize('NFC').toLowerCase()
