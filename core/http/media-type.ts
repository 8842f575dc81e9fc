/** A parsed `Content-Type`: lower-case `type/subtype` and its parameters. */
export interface MediaType {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
}

/** Reads a header of the form `value; name=value; name="quoted"`. Parameter names come in lower case. */
export const parseHeader = (text: string): MediaType => {
  const end = text.indexOf(';')
  const parameters = new Map<string, string>()
  if (end !== -1) {
    for (const [, name = '', quoted, plain] of text
      .slice(end)
      .matchAll(/;\s*([\w!#$&^.+-]+\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g)) {
      parameters.set(name.toLowerCase(), quoted === undefined ? (plain ?? '') : quoted.replaceAll(/\\(["\\])/g, '$1'))
    }
  }
  return { type: (end === -1 ? text : text.slice(0, end)).trim().toLowerCase(), parameters }
}

/** True of text that may stand as a media type in a header. */
export const isMediaType = (text: string): boolean =>
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\\p{Cc}]*"))*$/u.test(text)
