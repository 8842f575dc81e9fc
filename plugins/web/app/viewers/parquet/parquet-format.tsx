import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { ParquetDetails } from './parquet-source.ts'

/** Details from the metadata of the file. */
export const ParquetFormat = ({ rowGroups, codecs, createdBy }: ParquetDetails) => (
  <>
    <h2>{t('viewer.table.format')}</h2>
    <dl className="facts-table">
      <dt>{t('viewer.parquet.rowGroups')}</dt>
      <dd>{number(rowGroups)}</dd>
      <dt>{t('viewer.parquet.compression')}</dt>
      <dd>{codecs.join(', ')}</dd>
      {createdBy !== undefined && (
        <>
          <dt>{t('viewer.parquet.createdBy')}</dt>
          <dd>{createdBy}</dd>
        </>
      )}
    </dl>
  </>
)
