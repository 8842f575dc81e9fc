import { useState } from 'react'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { ViewerHost } from '../host.ts'
import { CsvFormat } from './csv-format.tsx'
import type { CsvDetails } from './csv-worker.ts'
import type { DialectChoice } from './engine/dialect.ts'
import type { OpenedTable } from './engine/serve-table.ts'
import type { TableClient } from './table-client.ts'
import { type TableState, textOfState } from './table-state.ts'
import { TableView } from './table-view.tsx'

export type CsvClient = TableClient<DialectChoice, CsvDetails>

/** An opened table, with its state in the URL. */
export interface Shown {
  readonly state: TableState
  readonly opened: OpenedTable<CsvDetails>
}

/** A text table, reopened when another delimiter, encoding or header is selected. */
export const CsvTable = ({ host, client, first }: { readonly host: ViewerHost; readonly client: CsvClient; readonly first: Shown }) => {
  const [{ state, opened }, setShown] = useState(first)
  const [times, setTimes] = useState(0)
  const read = async (change: DialectChoice): Promise<void> => {
    const next: TableState = {
      order: { sort: undefined, filters: [], search: '' },
      row: 0,
      column: 0,
      dialectChoice: { ...state.dialectChoice, ...change },
    }
    try {
      const again = await client.open(next.dialectChoice)
      host.state.set(textOfState(next))
      setShown({ state: next, opened: again })
      setTimes(times + 1)
    } catch (error) {
      host.toast(error instanceof Error ? error.message : String(error))
    }
  }
  const { details } = opened
  return (
    <TableView
      key={times}
      host={host}
      client={client}
      opened={opened}
      state={state}
      format={<CsvFormat details={details} onDialectChoice={dialectChoice => void read(dialectChoice)} />}
      notes={[
        ...(details.isWide ? [t('viewer.table.wide', { columns: number(opened.columns.length) })] : []),
        ...(details.cut ? [t(`viewer.table.cutBy.${details.cut}`)] : []),
      ]}
    />
  )
}
