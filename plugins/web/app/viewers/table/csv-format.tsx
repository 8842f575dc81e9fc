import { t } from '../../lib/i18n.ts'
import type { Encoding } from '../lib/encoding.ts'
import type { CsvDetails } from './csv-worker.ts'
import { type DialectChoice, delimiters } from './engine/dialect.ts'

const names = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar', ' ': 'space' } as const
const encodings: readonly Encoding[] = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252']

/** The format of the text, as detected or as selected instead. */
export const CsvFormat = ({
  details: { delimiter, encoding, hasHeader },
  onDialectChoice,
}: {
  readonly details: CsvDetails
  readonly onDialectChoice: (dialectChoice: DialectChoice) => void
}) => (
  <div className="form">
    <h2>{t('viewer.table.format')}</h2>
    <label>
      {t('viewer.table.delimiter')}
      <select className="input" value={delimiter} onChange={event => onDialectChoice({ delimiter: event.target.value })}>
        {delimiters.map(each => (
          <option key={each} value={each}>
            {t(`viewer.table.delimiters.${names[each]}`)}
          </option>
        ))}
      </select>
    </label>
    <label>
      {t('viewer.table.encoding')}
      <select className="input" value={encoding} onChange={event => onDialectChoice({ encoding: event.target.value as Encoding })}>
        {encodings.map(each => (
          <option key={each} value={each}>
            {t(`viewer.table.encodings.${each}`)}
          </option>
        ))}
      </select>
    </label>
    <label className="check">
      <input type="checkbox" checked={hasHeader} onChange={event => onDialectChoice({ hasHeader: event.target.checked })} />{' '}
      {t('viewer.table.hasHeader')}
    </label>
  </div>
)
