import { t } from '../lib/i18n.ts'
import { Dialog } from './dialog.tsx'

const groups = {
  everywhere: { search: ['/', 'Ctrl K'], help: ['?'], close: ['Esc'] },
  lists: {
    move: ['↑', '↓'],
    ends: ['Home', 'End'],
    open: ['Enter'],
    choose: ['Space'],
    range: ['Shift ↑', 'Shift ↓'],
    all: ['Ctrl A'],
    rename: ['F2'],
    delete: ['Delete'],
    cut: ['Ctrl X'],
    paste: ['Ctrl V'],
  },
  file: { next: ['J'], previous: ['K'] },
} as const

/** All keyboard shortcuts, by where they apply. */
export const KeyList = () => (
  <div className="key-groups">
    {Object.entries(groups).map(([group, keys]) => (
      <section key={group}>
        <h3>{t(`keys.${group as keyof typeof groups}`)}</h3>
        <dl className="keys">
          {Object.entries(keys as Readonly<Record<string, readonly string[]>>).map(([act, names]) => (
            <div key={act}>
              <dt>
                {names.map(name => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </dt>
              <dd>{t(`keys.act.${act}` as 'keys.act.search')}</dd>
            </div>
          ))}
        </dl>
      </section>
    ))}
  </div>
)

export const KeysDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={t('keys.title')} isOpen onClose={onClose} isWide>
    <KeyList />
  </Dialog>
)
