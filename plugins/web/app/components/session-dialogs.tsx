import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { t } from '../lib/i18n.ts'
import { changeSession, type Interruption, resumeSession, useInterruption, useSession } from '../lib/session.ts'
import { mayDiscard } from '../lib/unsaved.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { EnrolmentDialog } from './enrolment.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { StepUpDialog } from './step-up.tsx'
import { TermsDialog } from './terms.tsx'

/** Dialogs that the account requires before the page continues; the pending action then runs. */
export const SessionDialogs = () => {
  const isPending = useSession()?.user?.secondFactorPending ?? false
  const interruption = useInterruption()
  const [codes, setCodes] = useState<readonly string[]>()
  // It begins after other dialogs, and stays below those that are shown later.
  const isEnrolling = useRef(false)
  isEnrolling.current = (isPending || codes !== undefined) && (isEnrolling.current || !interruption)
  return (
    <>
      {isEnrolling.current && <EnrolmentDialog codes={codes} onCodes={setCodes} />}
      {interruption && <InterruptionDialog {...interruption} />}
    </>
  )
}

const InterruptionDialog = ({ what, methods, end }: NonNullable<ReturnType<typeof useInterruption>>) => {
  const dialogs: Readonly<Record<Interruption, ReactNode>> = {
    'signed-out': <SignedOutDialog onEnd={end} />,
    'step-up': <StepUpDialog methods={methods} onEnd={end} />,
    terms: <TermsDialog onEnd={end} />,
  }
  return dialogs[what]
}

const SignedOutDialog = ({ onEnd }: { readonly onEnd: (isDone: boolean) => void }) => {
  const email = useSession()?.user?.email
  const returnTo = useRouterState({ select: state => state.location.href })
  const leave = async (): Promise<void> => {
    if (!(await mayDiscard())) return
    onEnd(false)
    await changeSession()
  }
  return (
    <Dialog title={t('signedOut.title')} isOpen onClose={() => void leave()} isDismissable={false}>
      <p>{t('signedOut.text')}</p>
      <SignInForm returnTo={returnTo} email={email} onSignedIn={async () => onEnd(await resumeSession())} />
      <div className="actions end">
        <Button onPress={() => void leave()}>{t('signedOut.leave')}</Button>
      </div>
    </Dialog>
  )
}
