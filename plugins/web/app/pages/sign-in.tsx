import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { PageTitle } from '../components/page-parts.tsx'
import { SignInForm } from '../components/sign-in-form.tsx'
import { base } from '../lib/api.ts'
import { t } from '../lib/i18n.ts'
import { pathOfHere } from '../lib/paths.ts'
import { changeSession, useSession } from '../lib/session.ts'

export const SignInPage = () => {
  const { next } = useSearch({ strict: false }) as { readonly next?: string }
  const returnTo = pathOfHere(next)
  const router = useRouter()
  const session = useSession()
  const isSignedIn = session?.user != null
  useEffect(() => {
    if (isSignedIn) router.history.replace(base + returnTo)
  }, [isSignedIn, returnTo, router])
  return (
    <div className="entry">
      <PageTitle name={t('signInPage.title')}>
        <p className="faded">{session?.site.name}</p>
      </PageTitle>
      {session?.capabilities.setupPending && <p>{t('signInPage.setupPending')}</p>}
      <SignInForm returnTo={returnTo} onSignedIn={changeSession} />
    </div>
  )
}
