import { Link, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useRef, useState } from 'react'
import { t } from '../lib/i18n.ts'
import type { Session } from '../lib/session.ts'
import { Icon } from './icon.tsx'

const load = () => import('./account-popup.tsx')
const AccountPopup = lazy(async () => ({ default: (await load()).AccountPopup }))

/** The signed-in user, and appearance settings. */
export const AccountMenu = ({ session: { user } }: { readonly session: Session }) => {
  const href = useRouterState({ select: state => state.location.href })
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      {!user && (
        <Link to="/login" search={{ next: href } as never} className="button quiet">
          {t('signIn')}
        </Link>
      )}
      <button
        ref={button}
        type="button"
        className="button quiet"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={user ? t('accountOf', { name: user.fullName }) : t('settings')}
        onClick={() => setOpen(true)}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onKeyDown={event => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpen(true)
        }}
      >
        {user ? <span className="account-name">{user.firstName || user.fullName}</span> : <Icon name="settings" />}
      </button>
      {isOpen && (
        <Suspense>
          <AccountPopup user={user} trigger={button} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
