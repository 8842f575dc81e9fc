import { type Caller, GeoStore, geoNumberOf, Invalid, Streams, wire } from 'pounce/sdk'
import { eachPage } from '../listing.ts'
import { PropertyColumns } from './csv-columns.ts'
import type { Answered, Question } from './readings.ts'

const streamsAtOnce = 1000
const mostColumns = 5000

/** Finds out which columns a table needs, before its datapoints are read. */
export class CsvHeaders {
  #geo: GeoStore
  #streams: Streams

  constructor(geo: GeoStore, streams: Streams) {
    this.#geo = geo
    this.#streams = streams
  }

  /**
   * A table that is short enough to be looked at has the columns of what is in it. For a longer one the store says which names there are in its
   * streams, and what is nested as the first datapoints show it; whatever else is nested stays together in the column of its name.
   */
  async columnsOf(
    caller: Caller,
    { filter }: Question,
    { first, isWhole }: Answered,
    names: ReadonlySet<string> | undefined,
  ): Promise<PropertyColumns> {
    const columns = new PropertyColumns()
    for (const { properties } of first) columns.see(properties, names)
    if (!isWhole) await this.#expect(columns, this.#numbers(caller, filter.streams), names)
    return columns
  }

  async #expect(
    columns: PropertyColumns,
    numbers: AsyncIterable<readonly number[]>,
    names: ReadonlySet<string> | undefined,
  ): Promise<void> {
    for await (const some of numbers)
      for (const { properties } of (await this.#geo.statistics(some)).values())
        for (const name of properties) {
          if (!names || names.has(name)) columns.expect(name)
          if (columns.count > mostColumns) throw new Invalid(`More than ${mostColumns} columns: filter by streams or attributes`)
        }
  }

  async *#numbers(caller: Caller, chosen: readonly number[] | undefined): AsyncGenerator<readonly number[]> {
    if (chosen) {
      for (let at = 0; at < chosen.length; at += streamsAtOnce) yield chosen.slice(at, at + streamsAtOnce)
      return
    }
    for await (const streams of eachPage(page => this.#streams.list(caller, {}, page), streamsAtOnce)) {
      yield streams.map(({ id }) => geoNumberOf(id))
    }
  }
}
wire(CsvHeaders, GeoStore, Streams)
