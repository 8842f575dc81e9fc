import { type After, Installation, type Ref, wire } from 'pounce/sdk'
import { type RawJson, rawJson, shownMetadata } from 'pounce/sdk/kit'
import { StoredMetadata } from './stored-metadata.ts'

/** Number of characters after which a page ends, even if it has fewer documents than requested. */
const maxPageLength = 16 * 1024 * 1024

/** Number of characters of a document after which the event loop is yielded. */
export const longText = 256 * 1024

/** Pages of documents as returned to clients. */
export class DocumentPages {
  #documents: StoredMetadata
  #installation: Installation

  constructor(documents: StoredMetadata, installation: Installation) {
    this.#documents = documents
    this.#installation = installation
  }

  /** All documents of a resource as JSON texts, read during iteration. */
  async *rows(target: Ref, extractor: string | undefined): AsyncIterable<RawJson> {
    for await (const document of this.#documents.all(target, extractor)) {
      const text = this.#text(document)
      if (text.length > longText) await this.#documents.nextTurn()
      yield rawJson<RawJson>(text)
    }
  }

  /** Up to `limit` documents. There is a `next` when there are more. */
  async page(
    target: Ref,
    { extractor, limit, after }: { readonly extractor: string | undefined; readonly limit: number; readonly after: After | undefined },
  ): Promise<{ readonly json: string; readonly next?: After }> {
    const texts: string[] = []
    let length = 0
    let last: After | undefined
    for await (const document of this.#documents.all(target, extractor, after)) {
      if (last && (texts.length === limit || length >= maxPageLength)) return { json: `[${texts.join(',')}]`, next: last }
      const text = this.#text(document)
      texts.push(text)
      length += text.length
      if (text.length > longText) await this.#documents.nextTurn()
      last = [document.created, document.id]
    }
    return { json: `[${texts.join(',')}]` }
  }

  /** All documents of some files, by file id. */
  async *byFile(ids: readonly string[]): AsyncIterable<readonly [id: string, rows: AsyncIterable<RawJson>]> {
    for (const id of ids) yield [id, this.rows({ kind: 'file', id }, undefined)]
  }

  #text(document: Parameters<typeof shownMetadata>[0]): string {
    return JSON.stringify(shownMetadata(document, this.#installation.baseUrl))
  }
}
wire(DocumentPages, StoredMetadata, Installation)
