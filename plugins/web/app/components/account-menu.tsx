import { Link, useRouterState } from '@tanstack/react-router'
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover, Separator } from 'react-aria-components'
import { bytes } from '../lib/format.ts'
import { chooseLanguage, currentLanguage, type Language, languages, t } from '../lib/i18n.ts'
import { type Session, signOut } from '../lib/session.ts'
import { chooseTheme, currentTheme, type Theme } from '../lib/theme.ts'
import { Button } from './controls.tsx'
import { Icon } from './icon.tsx'
import { openKeysHelp } from './keys-help.tsx'
import { toastFailure } from './toasts.tsx'

const themes: readonly Theme[] = ['system', 'light', 'dark']

/** Who is signed in, and how the page looks to them. */
export const AccountMenu = ({ session: { user } }: { readonly session: Session }) => {
  const href = useRouterState({ select: state => state.location.href })
  const act = (key: string): void => {
    if (key === 'sign-out') void signOut().catch(toastFailure)
    if (key === 'keys') openKeysHelp()
  }
  return (
    <>
      {!user && (
        <Link to="/login" search={{ next: href } as never} className="button quiet">
          {t('signIn')}
        </Link>
      )}
      <MenuTrigger>
        <Button look="quiet" aria-label={user ? t('accountOf', { name: user.fullName }) : t('settings')}>
          {user ? <span className="account-name">{user.firstName || user.fullName}</span> : <Icon name="settings" />}
        </Button>
        <Popover className="popover" placement="bottom end">
          {user && <Identity user={user} />}
          <Menu onAction={key => act(String(key))} aria-label={t('account')}>
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
            {user && (
              <MenuItem id="sign-out" className="menu-item">
                {t('signOut')}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
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

/** What is stored, and what may be. */
export const storageText = ({ usedBytes, maxBytes }: { readonly usedBytes: number; readonly maxBytes: number }): string =>
  maxBytes > 0 ? t('storage.of', { used: bytes(usedBytes), max: bytes(maxBytes) }) : t('storage.used', { used: bytes(usedBytes) })

const Identity = ({ user }: { readonly user: NonNullable<Session['user']> }) => (
  <div className="menu-identity">
    <b>{user.fullName}</b>
    <span className="faded">{user.email}</span>
    {user.status === 'Admin' && <span className="faded">{t('serverAdmin')}</span>}
    {user.storage && <span className="faded">{storageText(user.storage)}</span>}
  </div>
)
