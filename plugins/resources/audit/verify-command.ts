import { type Command, Conflict, DocumentStore, wire } from 'pounce/sdk'
import { AuditVerifier } from './verify-audit.ts'

const maxPrinted = 20

/** `pounce audit verify` */
export class VerifyCommand implements Command {
  readonly name = 'audit verify'
  readonly summary = 'Verify the hash chains of the audit log'
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const found = await new AuditVerifier(this.#documents).verify({ progress: lines => progress(`${lines} lines verified`) })
    if (!found.isIntact) {
      const named = found.faults.slice(0, maxPrinted).map(({ fault, chain, seq, id, detail }) => {
        const line = id === null ? '' : ` (line ${id})`
        return `  ${fault}: chain ${chain}, place ${seq}${line}: ${detail}`
      })
      const more = found.faultCount > named.length ? [`  and ${found.faultCount - named.length} more`] : []
      throw new Conflict(['The audit log was tampered with:', ...named, ...more].join('\n'))
    }
    const { lines, chains, unchained, heads } = found
    const before =
      unchained.lines === 0
        ? []
        : [{ what: 'lines without a chain, from before the upgrade', value: `${unchained.lines}, until ${unchained.until}` }]
    return [
      { what: 'intact lines', value: lines },
      { what: 'chains', value: chains },
      ...before,
      ...heads.map(({ chain, seq, hash }) => ({ what: `head of chain ${chain}`, value: `${seq} ${hash}` })),
    ]
  }
}
wire(VerifyCommand, DocumentStore)
