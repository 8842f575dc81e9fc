/** A JSON body whose text is available, such as a list put together from stored records: it is sent as it is. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Hands over JSON text as the body of an answer, without parsing and printing it again. The caller vouches for the text and its shape;
 * tests check it against the declared response.
 */
export const rawJson = <T = never>(text: string): T => new RawJson(text) as T
