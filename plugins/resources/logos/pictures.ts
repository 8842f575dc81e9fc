import { Invalid } from 'pounce/sdk'

const starts: readonly (readonly [contentType: string, at: number, bytes: Buffer])[] = [
  ['image/png', 0, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
  ['image/jpeg', 0, Buffer.from([0xff, 0xd8, 0xff])],
  ['image/gif', 0, Buffer.from('GIF8')],
  ['image/webp', 8, Buffer.from('WEBP')],
]

/** The type of a picture as its bytes say it, whatever its sender says. `Invalid` for anything but PNG, JPEG, GIF and WebP: SVG can hold scripts. */
export const typeOfPicture = (bytes: Buffer): string => {
  const found = starts.find(([, at, start]) => bytes.subarray(at, at + start.length).equals(start))
  if (!found) throw new Invalid('image has to be a PNG, JPEG, GIF or WebP picture')
  return found[0]
}

/** What is shown where a logo is wanted and there is none. */
export const standIn = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#2c5f7c"/><path d="M16 44V20h16a9 9 0 0 1 0 18h-9v6z" fill="#fff"/></svg>',
)
