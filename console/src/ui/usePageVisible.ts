import { useEffect, useState } from "react";

/** A page hidden for less than this still counts as visible, in milliseconds. */
const hiddenMsMin = 10_000;

/** False once the page was hidden for a while, true again as soon as it is shown. */
export function usePageVisible(): boolean {
  const [visible, setVisible] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function update() {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setVisible(false), hiddenMsMin);
      else setVisible(true);
    }
    update();
    document.addEventListener("visibilitychange", update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", update);
    };
  }, []);
  return visible;
}
