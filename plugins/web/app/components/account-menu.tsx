import { Link, useRouterState } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { t } from '../lib/i18n.ts'
import type { Session } from '../lib/session.ts'
import { Icon } from './icon.tsx'
import { late } from './late.tsx'

const AccountPopup = late(async () => (await import('./account-popup.tsx')).AccountPopup)

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
        onPointerEnter={() => void AccountPopup.preload()}
        onFocus={() => void AccountPopup.preload()}
        onKeyDown={event => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpen(true)
        }}
      >
        {user ? <span className="account-name">{user.firstName || user.fullName}</span> : <Icon name="settings" />}
      </button>
      {isOpen && <AccountPopup user={user} trigger={button} onClose={() => setOpen(false)} />}
    </>
  )
}
