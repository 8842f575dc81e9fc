import { Invalid, type Parts, TooLarge } from 'pounce/sdk'

/** A multipart body that brings a logo. */
export interface SentLogo {
  readonly path: string
  readonly name: string
  readonly showText: boolean
  readonly picture: Buffer
}

const pattern = /^[^\u0000-\u001f\u007f/\\?#]{1,100}$/

const nameIn = (fields: ReadonlyMap<string, string>, field: 'name' | 'path'): string => {
  const text = fields.get(field)
  // Under this name its address would be that of another logo's picture.
  if (text === undefined || !pattern.test(text) || text === 'blob')
    throw new Invalid(`${field} is missing or invalid: a text field of 1 to 100 characters without slashes, and not blob`)
  return text
}

/** Reads the body whole: the fields may come after the picture, and say whether it may be kept at all. */
export const readLogo = async (parts: Parts, maxBytes: number): Promise<SentLogo> => {
  const fields = new Map<string, string>()
  let picture: Buffer | undefined
  for await (const part of parts) {
    if (part.kind === 'field') fields.set(part.field, part.value)
    else if (part.field !== 'image' || picture) part.skip()
    else {
      const pieces: Buffer[] = []
      let length = 0
      for await (const piece of part.stream as AsyncIterable<Buffer>) {
        length += piece.length
        if (length > maxBytes) throw new TooLarge(`A logo must be at most ${maxBytes} bytes`)
        pieces.push(piece)
      }
      picture = Buffer.concat(pieces)
    }
  }
  const [path, name] = [nameIn(fields, 'path'), nameIn(fields, 'name')]
  if (!picture) throw new Invalid('image is missing: a file part with the image')
  const showText = fields.get('showText') ?? 'true'
  if (showText !== 'true' && showText !== 'false') throw new Invalid('showText must be true or false')
  return { path, name, showText: showText === 'true', picture }
}
