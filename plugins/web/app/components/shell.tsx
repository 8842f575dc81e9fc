import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover, Separator } from 'react-aria-components'
import { api, serverEvents, urlOf } from '../lib/api.ts'
import { chooseLanguage, currentLanguage, type Language, languages, t } from '../lib/i18n.ts'
import { changeSession, useSession } from '../lib/session.ts'
import { chooseTheme } from '../lib/theme.ts'
import { Button } from './controls.tsx'
import { Logo } from './logo.tsx'
import { Toasts } from './toasts.tsx'
import { UploadTray } from './upload-tray.tsx'

/** What is on every page: the skip link, the header, the page itself, the footer, and messages. */
export const Shell = () => {
  const session = useSession()
  const name = session?.site.name ?? 'Pounce'
  return (
    <>
      <a className="skip-link" href="#content">
        {t('skip')}
      </a>
      <Unreachable />
      <header className="site-header">
        <Link to="/" className="site-name">
          <Logo />
          {name}
        </Link>
        <div className="search-slot" />
        <nav aria-label={t('account')}>
          <UploadTray />
          {session && <AccountMenu />}
        </nav>
      </header>
      <Main />
      <footer className="site-footer">
        <a href={urlOf('/docs')}>{t('apiDocumentation')}</a>
      </footer>
      <Toasts />
    </>
  )
}

/** The page. A new one gets the focus, so that screen readers begin there. */
const Main = () => {
  const path = useRouterState({ select: state => state.location.pathname })
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the path is what moves the focus
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path])
  return (
    <main id="content" ref={main} tabIndex={-1}>
      <Outlet />
    </main>
  )
}

/** Says that the server does not answer, until it does. */
const Unreachable = () => {
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    const lost = (): void => setAway(true)
    const found = (): void => setAway(false)
    serverEvents.addEventListener('unreachable', lost)
    serverEvents.addEventListener('reached', found)
    return () => {
      serverEvents.removeEventListener('unreachable', lost)
      serverEvents.removeEventListener('reached', found)
    }
  }, [])
  useEffect(() => {
    if (!isAway) return undefined
    const timer = setInterval(() => void api('GET /api/session').catch(() => undefined), 3000)
    return () => clearInterval(timer)
  }, [isAway])
  return isAway ? (
    <div role="alert" className="banner">
      {t('unreachable')}
    </div>
  ) : null
}

const AccountMenu = () => {
  const session = useSession()
  const path = useRouterState({ select: state => state.location.href })
  if (!session) return null
  return (
    <>
      {!session.user && (
        <Link to="/login" search={{ next: path } as never} className="button quiet">
          {t('signIn')}
        </Link>
      )}
      <MenuTrigger>
        <Button look="quiet" aria-label={session.user ? t('accountOf', { name: session.user.fullName }) : t('settings')}>
          {session.user ? session.user.fullName : '…'}
        </Button>
        <Popover className="popover" placement="bottom end">
          <Menu
            onAction={key => {
              const [what, value] = String(key).split(':')
              if (what === 'theme') chooseTheme(value as 'light' | 'dark' | 'system')
              if (what === 'language') void chooseLanguage(value as Language)
              if (what === 'sign-out') void api('POST /api/logout').then(changeSession)
            }}
          >
            {(['system', 'light', 'dark'] as const).map(theme => (
              <MenuItem key={theme} id={`theme:${theme}`} className="menu-item">
                {t(`theme.${theme}`)}
              </MenuItem>
            ))}
            <Separator className="menu-separator" />
            {Object.entries(languages)
              .filter(([language]) => language !== currentLanguage())
              .map(([language, label]) => (
                <MenuItem key={language} id={`language:${language}`} className="menu-item">
                  {label}
                </MenuItem>
              ))}
            {session.user && <Separator className="menu-separator" />}
            {session.user && (
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
