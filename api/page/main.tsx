import { render } from 'preact'
import './page.css'
import { App } from './app.tsx'
import { followEvents } from './data/live.ts'

const place = document.getElementById('app')
if (place) render(<App />, place)
void followEvents()
