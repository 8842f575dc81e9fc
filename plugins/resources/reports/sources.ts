import { type Contributions, type Kind, type ReportSource, ReportSources, Unavailable, wire } from 'pounce/sdk'

/** Where the records of each kind are. */
export class Sources {
  #sources: Contributions<ReportSource>

  constructor(sources: Contributions<ReportSource>) {
    this.#sources = sources
  }

  /** `Unavailable` when no plugin keeps any. */
  of(kind: Kind): ReportSource {
    const found = this.#sources.all().find(source => source.kind === kind)
    if (!found) throw new Unavailable(`No plugin stores resources of the kind ${kind}`)
    return found
  }
}
wire(Sources, ReportSources)
