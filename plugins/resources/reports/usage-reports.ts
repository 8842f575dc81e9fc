import { DocumentStore, range, Users, wire } from 'pounce/sdk'
import type { CellValue, RowFormat } from 'pounce/sdk/kit'
import { personOf } from './people-reports.ts'
import type { Span } from './record-reports.ts'
import { linesFrom, type Report, Sources } from './report.ts'

const columns = ['type', 'id', 'name', 'email', 'files', 'size_kb']
const together = 200

const recordFormat: RowFormat = {
  syntax: 'json',
  columns: [
    { name: 'author', cell: { at: 'author', as: 'text' } },
    { name: 'size', cell: { at: 'sizeBytes', as: 'bare' } },
  ],
}

interface UserUsage {
  files: number
  bytes: number
}

/** Storage used by each user. */
export class UsageReports {
  #documents: DocumentStore
  #sources: Sources
  #users: Users

  constructor(documents: DocumentStore, sources: Sources, users: Users) {
    this.#documents = documents
    this.#sources = sources
    this.#users = users
  }

  /**
   * Users with uploads within a time range with exclusive bounds, largest usage first. Only the sums per user are held in memory. The
   * computation is cancelled when the client disconnects.
   */
  users(span: Span, signal: AbortSignal): Report {
    return { name: 'UserStorage', columns, lines: format => linesFrom(format, columns, this.#rows(span, signal)) }
  }

  async *#rows(span: Span, signal: AbortSignal): AsyncGenerator<readonly CellValue[]> {
    const byUsage = [...(await this.#sums(span, signal))].sort(([, a], [, b]) => b.bytes - a.bytes)
    for (let at = 0; at < byUsage.length; at += together) {
      const some = byUsage.slice(at, at + together)
      const users = await this.#users.getMany(some.map(([id]) => id))
      for (const [id, { files, bytes }] of some) {
        const { name, email } = personOf(users.get(id))
        yield ['user', id, name, email, files, Math.floor(bytes / 1000)]
      }
    }
  }

  async #sums({ since, until }: Span, signal: AbortSignal): Promise<ReadonlyMap<string, UserUsage>> {
    const { records, byCreated } = this.#sources.of('file')
    const bounds = { ...(since === undefined ? {} : { gt: since }), ...(until === undefined ? {} : { lt: until }) }
    const query = Object.keys(bounds).length > 0 ? { using: byCreated.using, where: range('created', bounds) } : undefined
    const sums = new Map<string, UserUsage>()
    for await (const piece of this.#documents.formattedRows(records, recordFormat, query)) {
      if (signal.aborted) break
      const rows = JSON.parse(`[${Buffer.from(piece).toString()}]`) as readonly { readonly author: string; readonly size: number }[]
      for (const { author, size } of rows) {
        const sum = sums.get(author) ?? { files: 0, bytes: 0 }
        sums.set(author, sum)
        sum.files += 1
        sum.bytes += size
      }
    }
    return sums
  }
}
wire(UsageReports, DocumentStore, Sources, Users)
