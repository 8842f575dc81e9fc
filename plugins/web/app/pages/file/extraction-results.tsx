import { useState } from 'react'
import type { Models } from '../../api.ts'
import { Button } from '../../components/controls.tsx'
import { Time } from '../../components/page-parts.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { type Run, useMetadata, useRuns } from './file-data.ts'

type Metadata = Models['Metadata']

/** Metadata from extractors and users, updated while extractors run. */
export const ExtractionResults = ({ file }: { readonly file: string }) => {
  const { data: metadata = [] } = useMetadata(file)
  const runs = useRuns(file)
  if (metadata.length === 0 && runs.length === 0) return null
  return (
    <section aria-labelledby="found">
      <h2 id="found" className="section-title">
        {t('file.found')}
      </h2>
      <ul className="results">
        {metadata.map(one => (
          <li key={one.id} className="sheet">
            <header>
              <b>{agentName(one)}</b> <span className="help">{timeOf(one)}</span>
            </header>
            <Value value={one.content} depth={0} />
          </li>
        ))}
        {runs
          .filter(run => run.state !== 'done')
          .map(run => (
            <RunState key={run.id} run={run} />
          ))}
      </ul>
    </section>
  )
}

/** The status message of an extractor, without protocol prefixes. */
const saidBy = (message: string): string => (/^[A-Z_]+$/.test(message) ? '' : message.replace(/^StatusMessage\.\w+: ?/, ''))

const RunState = ({ run: { extractor, state, message, start } }: { readonly run: Run }) => (
  <li className="sheet">
    <header>
      <b>{extractor}</b> <span className={state === 'failed' ? 'failed' : 'at-work'}>{t(`file.run.${state}`)}</span>{' '}
      <span className="help">
        <Time of={start} />
      </span>
    </header>
    <p className="help" dir="auto">
      {saidBy(message)}
    </p>
  </li>
)

const agentName = ({ agent }: Metadata): string => agent.name || agent.extractor_id || t('file.somebody')

const timeOf = ({ created_at }: Metadata) =>
  Number.isNaN(Date.parse(created_at)) ? null : <Time of={new Date(created_at).toISOString()} />

const maxDepth = 6
const maxMembers = 200

/** JSON as names and values. Deep or long values are truncated. */
const Value = ({ value, depth }: { readonly value: unknown; readonly depth: number }) => {
  if (value === null || value === undefined) return <span className="faded">–</span>
  if (typeof value === 'number') return <span>{Number.isInteger(value) ? number(value) : String(value)}</span>
  if (typeof value !== 'object') return <Text text={String(value)} />
  if (depth >= maxDepth) return <code>{JSON.stringify(value).slice(0, 500)}</code>
  if (Array.isArray(value)) {
    if (value.every(one => typeof one !== 'object' || one === null))
      return <Text text={value.slice(0, maxMembers).map(String).join(', ')} />
    const rows = value.slice(0, maxMembers)
    if (rows.length > 1 && rows.every(isFlat)) return <Rows rows={rows} />
    return (
      <ol className="values">
        {rows.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: members of JSON have no identity
          <li key={at}>
            <Value value={one} depth={depth + 1} />
          </li>
        ))}
      </ol>
    )
  }
  return (
    <dl className="values">
      {Object.entries(value)
        .filter(([name]) => name !== '@context')
        .slice(0, maxMembers)
        .map(([name, one]) => (
          <div key={name}>
            <dt dir="auto">{name}</dt>
            <dd>
              <Value value={one} depth={depth + 1} />
            </dd>
          </div>
        ))}
    </dl>
  )
}

const maxColumns = 12

/** Whether a value is an object without nested objects, which can be a table row. */
const isFlat = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(one => typeof one !== 'object' || one === null)

const Rows = ({ rows }: { readonly rows: readonly Readonly<Record<string, unknown>>[] }) => {
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))].slice(0, maxColumns)
  return (
    <div className="wide">
      <table className="table">
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: members of JSON have no identity
            <tr key={at}>
              {columns.map(column => (
                <td key={column}>{row[column] !== undefined && <Value value={row[column]} depth={maxDepth} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const foldedLength = 300

/** Text; if long, only its beginning is shown at first. */
const Text = ({ text }: { readonly text: string }) => {
  const [isWhole, setIsWhole] = useState(false)
  if (text.length <= 2 * foldedLength) return <span dir="auto">{text}</span>
  return (
    <>
      <span dir="auto">{isWhole ? text : `${text.slice(0, foldedLength)} …`}</span>{' '}
      <Button look="quiet" aria-expanded={isWhole} onPress={() => setIsWhole(!isWhole)}>
        {t(isWhole ? 'file.shortText' : 'file.wholeText')}
      </Button>
    </>
  )
}
