import { useEffect, useState } from 'react'
import { Button, IconButton } from '../../components/controls.tsx'
import { copyText } from '../../components/copy-text.tsx'
import { Loading } from '../../components/page-parts.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { TableClient } from './table-client.ts'
import { usePanel } from './use-panel.ts'

/** The whole value of a cell, which the grid truncates. */
export const CellPanel = <W, D>({
  client,
  row,
  column,
  name,
  onClose,
}: {
  readonly client: TableClient<W, D>
  readonly row: number
  readonly column: number
  readonly name: string
  readonly onClose: () => void
}) => {
  const panel = usePanel(onClose)
  const [text, setText] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    client.copy(row, row + 1, column, column + 1).then(
      value => isCurrent && setText(value),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [client, row, column])
  return (
    <aside {...panel} className="sheet table-panel" aria-label={t('viewer.table.valueOf', { name, row: number(row + 1) })}>
      <div className="panel-head">
        <h2 dir="auto">{name}</h2>
        <IconButton icon="x" label={t('close')} onPress={onClose} />
      </div>
      {text === undefined ? (
        <Loading />
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
          <pre className="cell-value" dir="auto" tabIndex={0}>
            {text}
          </pre>
          {text !== '' && (
            <Button icon="copy" onPress={() => void copyText(text, t('copied'))}>
              {t('copy')}
            </Button>
          )}
        </>
      )}
    </aside>
  )
}
