import { Invalid, typeOfBytes } from 'pounce/sdk'

const pictures: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The type of a picture as its bytes say it, whatever its sender says. `Invalid` for anything but PNG, JPEG, GIF and WebP: SVG can hold scripts. */
export const typeOfPicture = (bytes: Buffer): string => {
  const found = typeOfBytes(bytes)
  if (found === undefined || !pictures.has(found)) throw new Invalid('image must be a PNG, JPEG, GIF or WebP image')
  return found
}

/** What is shown where a logo is wanted and there is none. */
export const standIn = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#2c5f7c"/><path d="M16 44V20h16a9 9 0 0 1 0 18h-9v6z" fill="#fff"/></svg>',
)
