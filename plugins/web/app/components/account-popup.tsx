import { useNavigate } from '@tanstack/react-router'
import type { RefObject } from 'react'
import { Header, Menu, MenuItem, MenuSection, Popover, Separator } from 'react-aria-components/Menu'
import { storageText } from '../lib/format.ts'
import { chooseLanguage, currentLanguage, type Language, languages, t } from '../lib/i18n.ts'
import { type Session, signOut } from '../lib/session.ts'
import { chooseTheme, currentTheme, type Theme } from '../lib/theme.ts'
import { Icon } from './icon.tsx'
import { openKeysHelp } from './keys-help.tsx'
import { toastFailure } from './toasts.tsx'

const themes: readonly Theme[] = ['system', 'light', 'dark']

/** The items of the account menu; loaded when it is opened. */
export const AccountPopup = ({
  user,
  trigger,
  onClose,
}: {
  readonly user: Session['user']
  readonly trigger: RefObject<HTMLElement | null>
  readonly onClose: () => void
}) => {
  const navigate = useNavigate()
  const act = (key: string): void => {
    onClose()
    if (key === 'sign-out') void signOut().catch(toastFailure)
    if (key === 'keys') openKeysHelp()
    if (key === 'read-access') void navigate({ to: '/admin/access' })
    if (key === 'plugins') void navigate({ to: '/admin/plugins' })
  }
  return (
    <Popover
      className="popover"
      aria-label={t('account')}
      placement="bottom end"
      triggerRef={trigger}
      isOpen
      onOpenChange={open => open || onClose()}
    >
      {user && <Identity user={user} />}
      <Menu autoFocus="first" onClose={onClose} onAction={key => act(String(key))} aria-label={t('account')}>
        <MenuSection
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[currentTheme()]}
          onSelectionChange={keys => chooseTheme([...keys][0] as Theme)}
        >
          <Header className="menu-header">{t('theme.title')}</Header>
          {themes.map(theme => (
            <Choice key={theme} id={theme} label={t(`theme.${theme}`)} />
          ))}
        </MenuSection>
        <Separator className="menu-separator" />
        <MenuSection
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[currentLanguage()]}
          onSelectionChange={keys => void chooseLanguage([...keys][0] as Language)}
        >
          <Header className="menu-header">{t('language')}</Header>
          {Object.entries(languages).map(([language, label]) => (
            <Choice key={language} id={language} label={label} />
          ))}
        </MenuSection>
        <Separator className="menu-separator" />
        <MenuItem id="keys" className="menu-item">
          {t('keys.title')}
        </MenuItem>
        {user?.status === 'Admin' && (
          <MenuItem id="read-access" className="menu-item">
            {t('readAccess.title')}
          </MenuItem>
        )}
        {user?.status === 'Admin' && (
          <MenuItem id="plugins" className="menu-item">
            {t('plugins.title')}
          </MenuItem>
        )}
        {user && (
          <MenuItem id="sign-out" className="menu-item">
            {t('signOut')}
          </MenuItem>
        )}
      </Menu>
    </Popover>
  )
}

const Choice = ({ id, label }: { readonly id: string; readonly label: string }) => (
  <MenuItem id={id} className="menu-item" textValue={label}>
    {({ isSelected }) => (
      <>
        <span className="menu-check">{isSelected && <Icon name="check" />}</span>
        {label}
      </>
    )}
  </MenuItem>
)

const Identity = ({ user }: { readonly user: NonNullable<Session['user']> }) => (
  <div className="menu-identity">
    <b>{user.fullName}</b>
    <span className="faded">{user.email}</span>
    {user.status === 'Admin' && <span className="faded">{t('serverAdmin')}</span>}
    {user.storage && <span className="faded">{storageText(user.storage)}</span>}
  </div>
)
