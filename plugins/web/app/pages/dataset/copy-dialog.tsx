import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup'
import { Button, TextField } from '../../components/controls.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import { editable, findIn } from '../../lib/resources.ts'
import { type CopyPlace, countOf, type Target } from './entry-acts.ts'
import { FolderTree } from './folder-tree.tsx'

interface Named {
  readonly id: string
  readonly name: string
}

const root = 'root'

/** Copies entries to a folder of this dataset, or of another dataset that the user may add to. */
export const CopyDialog = ({
  dataset,
  target,
  open,
  onCopy,
  onClose,
}: {
  readonly dataset: Named
  readonly target: Target
  /** Ids of the folders expanded in the tree of this dataset. */
  readonly open: readonly string[]
  readonly onCopy: (to: CopyPlace) => void
  readonly onClose: () => void
}) => {
  const [goal, setGoal] = useState<Named>(dataset)
  const [isChoosing, setChoosing] = useState(false)
  const [chosen, setChosen] = useState<string>(root)
  const [names] = useState(() => new Map<string, string>())
  const count = countOf(target)
  const choose = (next: Named): void => {
    setGoal(next)
    setChosen(root)
    setChoosing(false)
  }
  return (
    <FormDialog
      title={t('dataset.copyTo.title', { count, number: number(count), name: target.entries[0]?.name ?? '' })}
      action={t('dataset.copyTo.action')}
      isOpen
      onClose={onClose}
      onSubmit={async () => {
        const isRoot = chosen === root
        onCopy({ dataset: goal.id, id: isRoot ? undefined : chosen, name: isRoot ? goal.name : (names.get(chosen) ?? '') })
      }}
    >
      {isChoosing ? (
        <DatasetChoice onChoose={choose} />
      ) : (
        <Button icon="search" onPress={() => setChoosing(true)}>
          {t('dataset.copyTo.other')}
        </Button>
      )}
      <RadioGroup aria-label={t('dataset.copyTo.to')} value={chosen} onChange={setChosen} isRequired className="folder-choice">
        <FolderTree
          key={goal.id}
          dataset={goal.id}
          open={goal.id === dataset.id ? open : []}
          without={target.entries.map(({ id }) => id)}
          render={folder => {
            if (folder) names.set(folder.id, folder.name)
            return (
              <Radio value={folder?.id ?? root} className="folder-radio">
                <Icon name={folder ? 'folder' : 'database'} />
                <span dir="auto">{folder?.name ?? goal.name}</span>
              </Radio>
            )
          }}
        />
      </RadioGroup>
    </FormDialog>
  )
}

const DatasetChoice = ({ onChoose }: { readonly onChoose: (dataset: Named) => void }) => {
  const [text, setText] = useState('')
  const { data = [] } = useQuery({
    queryKey: ['dataset', 'list', 'copy', text],
    queryFn: () => findIn(editable.dataset)(text),
    placeholderData: before => before,
  })
  return (
    <>
      <TextField label={t('dataset.copyTo.find')} value={text} onChange={setText} autoFocus />
      <ul className="pick-list" aria-label={t('dataset.copyTo.find')}>
        {data.map(row => (
          <li key={row.id}>
            <button type="button" className="menu-item" onClick={() => onChoose(row)}>
              {row.name}
            </button>
          </li>
        ))}
        {data.length === 0 && <li className="menu-item faded">{t('list.nothingFound')}</li>}
      </ul>
    </>
  )
}
