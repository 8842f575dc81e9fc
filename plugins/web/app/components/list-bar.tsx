import type { ReactNode } from 'react'
import { Input, SearchField } from 'react-aria-components/SearchField'
import { t } from '../lib/i18n.ts'
import { useTyped } from '../lib/use-typed.ts'
import { Icon } from './icon.tsx'

/** Filters a list while typing; the URL is updated after a short delay. */
export const FindField = ({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const [text, setText] = useTyped(value, onChange, 250)
  return (
    <SearchField className="find" aria-label={label} value={text} onChange={setText}>
      <Input className="input" placeholder={label} />
    </SearchField>
  )
}

interface ToggleProps {
  readonly isTiles: boolean
  readonly onChange: (isTiles: boolean) => void
}

/** Table or tiles. */
export const ViewToggle = ({ isTiles, onChange }: ToggleProps) => (
  <fieldset className="toggle">
    <legend className="visually-hidden">{t('list.view')}</legend>
    <button
      type="button"
      className="button icon"
      aria-pressed={!isTiles}
      aria-label={t('list.asTable')}
      title={t('list.asTable')}
      onClick={() => onChange(false)}
    >
      <Icon name="list" />
    </button>
    <button
      type="button"
      className="button icon"
      aria-pressed={isTiles}
      aria-label={t('list.asTiles')}
      title={t('list.asTiles')}
      onClick={() => onChange(true)}
    >
      <Icon name="layout-grid" />
    </button>
  </fieldset>
)

const viewKey = 'pounce.list.tiles'

/** Whether to show tiles: as the URL specifies, otherwise the last choice on this computer. */
export const likesTiles = (view: string | undefined): boolean => {
  if (view !== undefined) return view === 'tiles'
  try {
    return localStorage.getItem(viewKey) === 'true'
  } catch {
    return false
  }
}

export const rememberTiles = (isTiles: boolean): void => {
  try {
    localStorage.setItem(viewKey, String(isTiles))
  } catch {
    // Storage is blocked: the URL still has it.
  }
}

/** A native select with a label for screen readers. */
export const Choice = ({
  label,
  value,
  onChange,
  children,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: ReactNode
}) => (
  <select className="select" aria-label={label} value={value} onChange={event => onChange(event.target.value)}>
    {children}
  </select>
)
