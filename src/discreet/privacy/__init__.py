"""What is promised: sensitivities, and the guarantees that follow from them."""
