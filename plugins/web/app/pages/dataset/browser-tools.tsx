import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu'
import { addFiles } from '../../components/add-files.ts'
import { Button, IconButton } from '../../components/controls.tsx'
import { Icon } from '../../components/icon.tsx'
import type { IconName } from '../../components/icon-names.ts'
import { useNarrow } from '../../components/virtual-grid.tsx'
import { t } from '../../lib/i18n.ts'
import { chosenInInput } from '../../lib/uploads/chosen-files.ts'
import type { UploadTarget } from '../../lib/uploads/upload-storage.ts'
import { useTyped } from '../../lib/use-typed.ts'
import type { EntryQuery } from './entries.ts'
import { UrlsDialog } from './urls-dialog.tsx'

interface FindProps {
  readonly query: EntryQuery
  readonly onFind: (text: string) => void
  readonly onBelow: (below: boolean) => void
}

export const Toolbar = ({ children, ...find }: FindProps & { readonly children: ReactNode }) => (
  <div className="browser-tools">
    {/* Text that was just typed does not apply to the next folder. */}
    <Find key={find.query.folder ?? ''} {...find} />
    <div className="actions end">{children}</div>
  </div>
)

/** Filters while typing, after a short pause. */
const Find = ({ query, onFind, onBelow }: FindProps) => {
  const [text, setText] = useTyped(query.filter, onFind, 150)
  return (
    <div className="browser-find">
      <input
        type="search"
        className="input"
        aria-label={t('entries.find')}
        placeholder={t('entries.find')}
        value={text}
        maxLength={200}
        // As names are stored; macOS copies the names of files in another form.
        onChange={({ target }) => setText(target.value.normalize('NFC'))}
      />
      {(text !== '' || query.isRecursive) && (
        <label className="browser-below">
          <input type="checkbox" checked={query.isRecursive} onChange={({ target }) => onBelow(target.checked)} />
          {t('entries.below')}
        </label>
      )}
    </div>
  )
}

/** With labels where there is room for them. */
export const ToolButton = ({ icon, label, onPress }: { readonly icon: IconName; readonly label: string; readonly onPress: () => void }) =>
  useNarrow() ? (
    <IconButton look="plain" icon={icon} label={label} onPress={onPress} />
  ) : (
    <Button icon={icon} onPress={onPress}>
      {label}
    </Button>
  )

/** Files or a folder, selected in the system's dialog. */
export const AddFilesButton = ({ target }: { readonly target: UploadTarget }) => {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const [isFetching, setFetching] = useState(false)
  const add = (input: HTMLInputElement): void => {
    void addFiles(target, chosenInInput(input.files ?? []))
    input.value = ''
  }
  return (
    <>
      <input ref={files} type="file" multiple hidden data-add="files" onChange={event => add(event.currentTarget)} />
      <input
        ref={element => {
          folder.current = element
          element?.setAttribute('webkitdirectory', '')
        }}
        type="file"
        hidden
        onChange={event => add(event.currentTarget)}
      />
      <MenuTrigger>
        <Button look="filled" icon="upload">
          {t('dataset.addFiles')}
        </Button>
        <Popover className="popover" placement="bottom end">
          <Menu
            onAction={what => {
              if (what === 'files') files.current?.click()
              else if (what === 'folder') folder.current?.click()
              else setFetching(true)
            }}
          >
            <MenuItem id="files" className="menu-item">
              <Icon name="file" />
              {t('dataset.chooseFiles')}
            </MenuItem>
            <MenuItem id="folder" className="menu-item">
              <Icon name="folder" />
              {t('dataset.chooseFolder')}
            </MenuItem>
            <MenuItem id="urls" className="menu-item">
              <Icon name="globe" />
              {t('urls.menu')}
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      {isFetching && <UrlsDialog target={target} onClose={() => setFetching(false)} />}
    </>
  )
}

/** Files from the clipboard are added; rows that were cut are moved here. */
export const usePaste = (canAdd: boolean, target: UploadTarget, onPasteCut: () => void): void => {
  const latest = useRef({ target, onPasteCut })
  latest.current = { target, onPasteCut }
  useEffect(() => {
    if (!canAdd) return undefined
    const paste = (event: ClipboardEvent): void => {
      if ((event.target as HTMLElement).closest('input, textarea, [contenteditable], [role="dialog"]')) return
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length > 0) {
        event.preventDefault()
        void addFiles(latest.current.target, chosenInInput(files))
      } else latest.current.onPasteCut()
    }
    document.addEventListener('paste', paste)
    return () => document.removeEventListener('paste', paste)
  }, [canAdd])
}
