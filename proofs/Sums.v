(* Finite sums of functions from indices to real numbers: f 0 + ... + f (n - 1). *)

From Coq Require Import Reals Lra Lia.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

Lemma sum_ext : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros f g same; cbn [sum]; [reflexivity|].
  rewrite (IH f g) by (intros; apply same; lia).
  rewrite (same n) by lia. reflexivity.
Qed.

Lemma sum_le : forall n f g, (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; intros f g below; cbn [sum]; [lra|].
  pose proof (IH f g (fun i lt => below i (Nat.lt_lt_succ_r _ _ lt))) as head.
  pose proof (below n (Nat.lt_succ_diag_r n)) as tail. lra.
Qed.

Lemma sum_lt :
  forall n f g, (0 < n)%nat -> (forall i, (i < n)%nat -> f i < g i) -> sum n f < sum n g.
Proof.
  intros [|n] f g some below; [lia|]. cbn [sum].
  assert (head : sum n f <= sum n g) by (apply sum_le; intros; left; apply below; lia).
  pose proof (below n (Nat.lt_succ_diag_r n)) as tail. lra.
Qed.

Lemma sum_zero : forall n, sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; cbn [sum]; lra. Qed.

Lemma sum_const : forall n c, sum n (fun _ => c) = INR n * c.
Proof.
  induction n as [|n IH]; intros c; [cbn; lra|].
  rewrite S_INR. cbn [sum]. rewrite IH. lra.
Qed.

Lemma sum_nonneg : forall n f, (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof.
  intros n f nonneg. rewrite <- (sum_zero n). apply sum_le. assumption.
Qed.

Lemma sum_positive :
  forall n f, (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros n f some positive. rewrite <- (sum_zero n). apply sum_lt; assumption.
Qed.

Lemma sum_scal : forall n c f, sum n (fun i => c * f i) = c * sum n f.
Proof. induction n as [|n IH]; intros c f; cbn [sum]; [|rewrite IH]; lra. Qed.

Lemma sum_scal_r : forall n c f, sum n (fun i => f i * c) = sum n f * c.
Proof. induction n as [|n IH]; intros c f; cbn [sum]; [|rewrite IH]; lra. Qed.

Lemma sum_plus : forall n f g, sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n as [|n IH]; intros f g; cbn [sum]; [|rewrite IH]; lra. Qed.

Lemma sum_minus : forall n f g, sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n as [|n IH]; intros f g; cbn [sum]; [|rewrite IH]; lra. Qed.

Lemma sum_first : forall n f, sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof.
  induction n as [|n IH]; intros f; [cbn; lra|].
  change (sum (S (S n)) f) with (sum (S n) f + f (S n)).
  rewrite IH. cbn [sum]. lra.
Qed.

Lemma sum_split : forall m n f, sum (m + n) f = sum m f + sum n (fun i => f (m + i)%nat).
Proof.
  intros m n f. induction n as [|n IH].
  - rewrite Nat.add_0_r. cbn [sum]. lra.
  - rewrite Nat.add_succ_r. cbn [sum]. rewrite IH. lra.
Qed.

Lemma sum_rev : forall n f, sum n (fun i => f (n - 1 - i)%nat) = sum n f.
Proof.
  induction n as [|n IH]; intros f; [reflexivity|].
  rewrite sum_first. replace (S n - 1 - 0)%nat with n by lia.
  rewrite (sum_ext n (fun i => f (S n - 1 - S i)%nat) (fun i => f (n - 1 - i)%nat))
    by (intros; f_equal; lia).
  rewrite IH. cbn [sum]. lra.
Qed.

Lemma sum_swap :
  forall m n (f : nat -> nat -> R),
    sum m (fun i => sum n (fun j => f i j)) = sum n (fun j => sum m (fun i => f i j)).
Proof.
  induction m as [|m IH]; intros n f; cbn [sum]; [symmetry; apply sum_zero|].
  rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_mono :
  forall m n f, (m <= n)%nat -> (forall i, (i < n)%nat -> 0 <= f i) -> sum m f <= sum n f.
Proof.
  intros m n f le nonneg. replace n with (m + (n - m))%nat by lia. rewrite sum_split.
  assert (rest : 0 <= sum (n - m) (fun i => f (m + i)%nat))
    by (apply sum_nonneg; intros; apply nonneg; lia).
  lra.
Qed.

Lemma sum_term :
  forall n f i, (i < n)%nat -> (forall j, (j < n)%nat -> 0 <= f j) -> f i <= sum n f.
Proof.
  intros n f i lt nonneg.
  assert (upto : sum (S i) f <= sum n f) by (apply sum_mono; [lia|assumption]).
  cbn [sum] in upto.
  assert (before : 0 <= sum i f) by (apply sum_nonneg; intros; apply nonneg; lia).
  lra.
Qed.

Lemma sum_only :
  forall n i c, (i < n)%nat -> sum n (fun j => if Nat.eqb j i then c else 0) = c.
Proof.
  induction n as [|n IH]; intros i c lt; [lia|]. cbn [sum].
  destruct (Nat.eqb_spec n i) as [same|other].
  - subst. rewrite (sum_ext i _ (fun _ => 0)), sum_zero; [lra|].
    intros j below. destruct (Nat.eqb_spec j i); [lia|reflexivity].
  - rewrite IH by lia. lra.
Qed.

Example sum_swap_instance :
  sum 2 (fun i => sum 3 (fun j => INR i + INR j)) = 9 /\
  sum 3 (fun j => sum 2 (fun i => INR i + INR j)) = 9.
Proof. split; cbn; lra. Qed.
