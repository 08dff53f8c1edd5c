import type { ButtonHTMLAttributes } from "react";
import styles from "./Button.module.css";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "primary" | "danger" | "quiet";
}

export function Button({ look = "plain", type = "button", className, ...rest }: ButtonProps) {
  return <button type={type} className={`${styles.button} ${className ?? ""}`} data-look={look} {...rest} />;
}
