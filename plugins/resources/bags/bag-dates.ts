import type { Log } from 'pounce/sdk'
import { msOfTime } from 'pounce/sdk/kit'

/**
 * Abbreviations of time zones in Java's `Date.toString`, by offset. Of several meanings the first of these applies: North America (AST, CST, EST, MST,
 * PST), Britain (BST), India (IST), the Gulf (GST).
 */
const abbreviations: Readonly<Record<string, string>> = {
  '-1100': 'SST',
  '-1000': 'HST HAST',
  '-0900': 'AKST HADT HDT',
  '-0800': 'PST AKDT',
  '-0700': 'MST PDT',
  '-0600': 'CST MDT',
  '-0500': 'EST CDT COT PET ECT',
  '-0400': 'AST EDT BOT CLT VET PYT GYT',
  '-0330': 'NST',
  '-0300': 'ADT ART BRT CLST GFT PYST SRT UYT',
  '-0230': 'NDT',
  '-0200': 'BRST UYST FNT',
  '-0100': 'AZOT CVT',
  '+0000': 'GMT UTC UT Z WET AZOST',
  '+0100': 'BST CET MET WAT WEST',
  '+0200': 'CAT CEST EET MEST SAST WAST',
  '+0300': 'EAT EEST IDT MSK TRT',
  '+0330': 'IRST',
  '+0400': 'GST AZT GET MSD MUT RET SAMT SCT',
  '+0430': 'AFT IRDT',
  '+0500': 'PKT MVT TJT TMT UZT YEKT',
  '+0530': 'IST SLST',
  '+0545': 'NPT',
  '+0600': 'BDT BTT KGT OMST',
  '+0630': 'MMT',
  '+0700': 'ICT HOVT KRAT NOVT WIB',
  '+0800': 'AWST BNT HKT IRKT MYT PHT SGT ULAT WITA',
  '+0900': 'JST KST WIT YAKT',
  '+0930': 'ACST',
  '+1000': 'AEST ChST PGT VLAT',
  '+1030': 'ACDT',
  '+1100': 'AEDT LHDT MAGT NCT SBT VUT',
  '+1200': 'FJT NZST PETT TVT WAKT',
  '+1300': 'NZDT TOT',
}

const offsets: ReadonlyMap<string, string> = new Map(
  Object.entries(abbreviations).flatMap(([offset, names]) => names.split(' ').map(name => [name, `GMT${offset}`] as const)),
)

/** The word after the time of day. */
const zone = /(?<=\d:\d\d(?:\.\d+)? )[A-Za-z]{1,5}(?= |$)/

const maxReportedZones = 20

const parsed = (text: string): number | undefined => {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** Reads the dates in one bag, and reports those that it cannot read completely. */
export class BagDates {
  readonly #unknownZones = new Set<string>()
  #unreadable = 0
  #example: string | undefined

  /** Milliseconds since 1970 of a date in ISO 8601 or Java's format. UTC if its time zone is unknown; undefined if it is no date. */
  msOf(given: unknown): number | undefined {
    if (given === undefined || given === null || given === '') return undefined
    const text = typeof given === 'string' ? given : ''
    const known = msOfTime(text) ?? parsed(text.replace(zone, name => offsets.get(name) ?? name))
    if (known !== undefined) return known
    const asUtc = parsed(text.replace(zone, 'GMT'))
    if (asUtc === undefined) {
      this.#unreadable += 1
      this.#example ??= JSON.stringify(given).slice(0, 100)
    } else if (this.#unknownZones.size < maxReportedZones) this.#unknownZones.add(zone.exec(text)?.[0] ?? '')
    return asUtc
  }

  report(log: Log, dataset: string): void {
    if (this.#unknownZones.size > 0)
      log.warn('Unknown time zones in a bag; their dates were read as UTC', { dataset, zones: [...this.#unknownZones].sort() })
    if (this.#unreadable > 0)
      log.warn('Unreadable dates in a bag; the time of the import applies', { dataset, count: this.#unreadable, example: this.#example })
  }
}
