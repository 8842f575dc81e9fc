/** A part as Python's requests sends `files={"File": fh}`: a name and no media type. */
export interface UntypedPart {
  readonly name: string
  readonly bytes: string | Uint8Array
  readonly field?: string
}

const boundary = 'b7f3c0a1d2e94f58'

/** A multipart body of untyped file parts and text fields, with the header that announces it. */
export const untypedForm = (
  parts: readonly UntypedPart[],
  fields: Readonly<Record<string, string>> = {},
): { readonly body: Uint8Array<ArrayBuffer>; readonly headers: Readonly<Record<string, string>> } => {
  const pieces = [
    ...Object.entries(fields).map(([name, value]) =>
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
    ),
    ...parts.flatMap(({ name, bytes, field = 'File' }) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\n\r\n`),
      Buffer.from(bytes),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]
  return { body: Uint8Array.from(Buffer.concat(pieces)), headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
}
