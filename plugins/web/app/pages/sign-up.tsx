import { PageTitle } from '../components/page-parts.tsx'

export const SignUpPage = () => <PageTitle name="SignUpPage" />
