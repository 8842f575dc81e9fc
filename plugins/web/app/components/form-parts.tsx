import type { ReactNode } from 'react'
import { Button } from './controls.tsx'

/** The server's error, announced. */
export const FormError = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? null : (
    <p role="alert" className="error-text form-error">
      {text}
    </p>
  )

/** The primary action of a form. */
export const SubmitButton = ({ isBusy, children }: { readonly isBusy: boolean; readonly children: ReactNode }) => (
  <Button type="submit" look="filled" isPending={isBusy}>
    {children}
  </Button>
)
